package main

import (
	"fmt"
	"strings"
)

// formula returns the Homebrew formula that installs the archives of a release.
func formula(version, url string, made []artifact) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `class Secateur < Formula
  desc "Prunes what fills a coding agent's context window, recoverably"
  homepage %q
  version %q
  license "Apache-2.0"
`, url, version)
	for _, os := range []struct{ brew, ours string }{{"macos", "darwin"}, {"linux", "linux"}} {
		fmt.Fprintf(&b, "\n  on_%s do\n", os.brew)
		for _, arch := range []struct{ brew, ours string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			for _, a := range made {
				if a.system == (system{os.ours, arch.ours}) {
					fmt.Fprintf(&b, "    on_%s do\n      url %q\n      sha256 \"%x\"\n    end\n", arch.brew, url+"/"+a.name, a.sum)
				}
			}
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "secateur"
    man1.install Dir["man/*.1"]
    doc.install "README.md", "NOTICE", "THIRD_PARTY_NOTICES"
    generate_completions_from_executable(bin/"secateur", "completion")
  end

  service do
    run [opt_bin/"secateur", "serve"]
    keep_alive true
    log_path var/"log/secateur.log"
    error_log_path var/"log/secateur.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/secateur version")
    assert_match "needle", pipe_output("#{bin}/secateur prune --goal needle", "hay\nneedle\nhay\n")
  end
end
`)
	return []byte(b.String())
}
