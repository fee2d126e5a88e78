// Command mutants removes the program's guards, one at a time, and expects the tests to fail. Each
// mutant is an edit of one file in a scratch copy of the sources. A surviving mutant is a guard
// that no test checks.
//
// The list below names guards that must hold. Further guards are drawn at random from the program's
// source (draw.go), to check more than the known ones. The seed of the draw is the date; it is
// printed, and -seed repeats it.
//
//	go run ./test/mutants            the list, and 40 that are drawn
//	go run ./test/mutants -run body  those of the list whose name contains the word
//	go run ./test/mutants -listed=false -draw 100 -seed 20260728
//
// It exits with 1 if a guard of the list survives. A drawn one that survives is only reported: some
// guards merely save work, and the same sources would pass on one day and fail on another. -strict
// exits with 1 for these, too.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// mutant is a removed guard.
type mutant struct {
	name     string
	file     string
	old, new string
	// The tests that must fail, as arguments of go test: a package, and for a large one -run with
	// the relevant tests.
	tests string
}

// placed is a mutant at a known place in its file.
type placed struct {
	mutant
	at int // offset of old; 0: its first occurrence
}

var mutants = []mutant{
	{"token of the gateway", "internal/app/routes.go", `g.shut(rpchttp.Refuse, gen.gateway.Serve)`, `g.safely(func(w http.ResponseWriter, r *http.Request) { _ = rpchttp.Refuse; gen.gateway.Serve(w, r, access.Anonymous()) })`, "./internal/app -run TestEveryRouteHasItsWalls"},
	{"files of a confined server", "internal/mcp/confine/confine_linux.go", "if s.ABI >= abiFiles {", "if false {", "./internal/mcp/child -run TestHostile"},
	{"sockets of a confined server", "internal/mcp/confine/confine_linux.go", "if s.Filters {", "if false {", "./internal/mcp/child -run TestHostile"},
	{"signals of a confined server", "internal/mcp/confine/landlock_linux.go", "a.Scoped = scopes", "a.Scoped = 0", "./internal/mcp/child -run TestHostile"},
	{"ports of a confined server", "internal/mcp/confine/landlock_linux.go", "a.Handled_access_net = netRights", "a.Handled_access_net = 0", "./internal/mcp/child -run TestHostile"},
	{"capabilities of a confined root", "internal/mcp/confine/confine_linux.go", "if err := dropCapabilities(); err != nil {", "if err := error(nil); err != nil {", "./internal/mcp/child -run TestHostile"},
	{"limits of a confined server", "internal/mcp/confine/confine_linux.go", "if err := s.limit(); err != nil {", "if err := error(nil); err != nil {", "./internal/mcp/child -run TestHostile"},
	{"links that a confined server left", "internal/mcp/confine/plan.go", "!isBelow(path, have.Path) {", "true {", "./internal/mcp/child -run TestLinksLeftBehind"},
	{"sandboxes that are required", "internal/mcp/upstream/sandbox.go", "if len(gaps) > 0 && set.SandboxRequired {", "if false {", "./internal/mcp/upstream -run TestRequiredSandboxes"},
	{"home as the working directory of a confined server", "internal/mcp/confine/plan.go", "case !b.profiled || !b.tooWide(b.Dir):", "case true:", "./internal/mcp/confine"},
	{"servers that nobody approved", "internal/app/approval.go", "known[approvalOf(s)] != \"\"", "len(known) >= 0", "./cmd/secateur -run TestScripts/approve"},
	{"held servers in the pool", "internal/mcp/upstream/settings.go", "return s.Disabled || s.Held", "return s.Disabled", "./cmd/secateur -run TestScripts/approve"},
	{"servers of a repository", "internal/config/client.go", "if entry != nil && isRepositoryFile(path) {", "if false {", "./cmd/secateur -run TestScripts/approve"},
	{"transcripts for callers of other machines", "internal/llm/hook/hook.go", "if who.Local && e.transcript", "if e.transcript", "./internal/llm/hook"},
	{"originals before the hook's cuts", "internal/llm/hook/hook.go", `return nil, fmt.Errorf("original not kept: %w", err)`, "_ = err", "./internal/llm/hook"},
	{"tools that servers only talk of", "internal/llm/hook/transcript.go", `s.recover != "" || rawjson.GetText(attachment, "type") != "deferred_tools_delta"`, `s.recover != ""`, "./internal/llm/hook"},
	{"token of chat completions", "internal/app/guard.go", "\t\tif v.Kind == access.Allowed {\n\t\t\tp, v = g.auth.Authenticate(r)", "\t\tif v.Kind == access.Allowed {\n\t\t\tp = access.Anonymous()", "./internal/app -run TestEveryRouteHasItsWalls"},
	{"token in a header off loopback", "internal/mcp/downstream/post.go", `if q.h.opt.TokenInHeader || `, `if `, "./internal/mcp/downstream"},
	{"focus of a model, which is ours alone", "internal/mcp/aggregate/masking.go", `e.d.params = rawjson.RemoveWithin(e.d.params, "arguments", catalog.FocusArgument)`, ``, "./internal/mcp/aggregate -run TestTheFocusIsOursAlone"},
	{"errors of tools", "internal/mcp/aggregate/masking.go", `> 0 && isError(result)`, `> 0 && false`, "./internal/mcp/aggregate -run TestLongTextsArePruned"},
	{"length of a token off loopback", "internal/config/settings.go", `n > 0 && n < minToken`, `n > 0 && n < 1`, "./internal/config"},
	{"names that a peer gives over http", "internal/access/outbound/client.go", "if err := o.check(r.URL); err != nil {", "if err := o.check(r.URL); false {", "./internal/access/outbound"},
	{"signatures from before the start", "internal/access/auth/nonces.go", "n.forgotten && signed <= n.started", "false", "./internal/access/auth -run TestSignatureFromBeforeTheStart"},
	{"nonces of before a restart", "internal/access/auth/nonces.go", "if err := n.files.add(n.slot, nonce); err != nil {", "if false {", "./internal/access/auth -run TestUsedNoncesOutlive"},
	{"the name of auth_token's holder", "internal/access/auth/tokenfile.go", "if t.Name == access.TokenHolderName {", "if t.Name == access.TokenHolderName && false {", "./cmd/secateur -run TestScripts/tokens"},
	{"the configuration's token at other hosts", "cmd/secateur/controlclient.go", "if names(u, c.base) {", "if true {", "./cmd/secateur -run TestTheConfigurationsTokenStaysAtItsListener"},
	{"secrets in a file of the working directory", "cmd/secateur/change.go", "w.findOptions(flag, usersOwn)", "w.findOptions(flag, orWorkingDir)", "./cmd/secateur -run TestScripts/add"},
	{"memory that servers read", "cmd/secateur/memory_linux.go", "unix.PR_SET_DUMPABLE, 0,", "unix.PR_SET_DUMPABLE, 1,", "./cmd/secateur -run TestServersCannotReadOurMemory"},
	{"slow guesses", "internal/app/guesses.go", `wait := time.NewTimer(guessDelay)`, `wait := time.NewTimer(0)`, "./internal/app -run TestBadGuessesAreSlowed"},
	{"guesses beyond the waiting room", "internal/app/guesses.go", "return access.Verdict{Kind: access.Guessing,", "return access.Verdict{Kind: v.Kind, Cause: v.Cause,", "./internal/app -run TestBadGuessesAreSlowed"},
	{"the page's half of a session", "internal/ops/ui/session.go", "subtle.ConstantTimeCompare(shown[:], one.cookie[:]) == 0", "subtle.ConstantTimeCompare(shown[:], one.cookie[:]) == 2", "./internal/ops/ui"},
	{"sign-out", "internal/ops/ui/ui.go", "	d.opt.Sessions.close(r)\n", "", "./internal/app -run TestSessionEndsWithSignOut"},
	{"foreign hosts", "internal/access/access.go", `if !p.knowsHost(host) {`, `if !p.knowsHost(host) && false {`, "./internal/access"},
	{"redaction of people's answers", "internal/mcp/aggregate/relay.go", `return r.a.permit.RedactAnswer(answer)`, `return answer`, "./internal/mcp/aggregate -run TestDialogues/redaction"},
	{"redaction within texts", "internal/access/redact.go", `r.withoutMatches(r.membersIn(text, inner))`, `r.withoutMatches(text)`, "./internal/access -run TestFieldsAreRedactedInEveryShape"},
	{"subscriptions of others", "internal/mcp/gateway/connection.go", `case "resources/unsubscribe": // this`, `case "none": // this`, "./internal/mcp/gateway -run TestNoCallerChangesTheSharedConnection"},
	{"notifications about the connection", "internal/mcp/gateway/gateway.go", `if isOwn(n.Method) {`, `if false {`, "./internal/mcp/gateway -run TestNoCallerChangesTheSharedConnection"},
	{"files of named hosts", "internal/access/rules.go", `!s.files || namesOneFile(name)`, `true`, "./internal/access -run TestADeniedFileIsDeniedInEverySpelling"},
	{"foreign origins", "internal/access/access.go", `if p.knowsOrigin(r.Origin, r.Host) {`, `if p.knowsOrigin(r.Origin, r.Host) || true {`, "./internal/access"},
	{"tools that are switched off", "internal/access/admission/admission.go", `if c.isOff(t) {`, `if false {`, "./internal/app -run TestToolsThatAreOffAreUnknownEverywhere"},
	{"cross-site GETs", "internal/app/guard.go", "req.ReadOnly = false", "", "./internal/app -run TestEveryRouteHasItsWalls"},
	{"header time-out", "internal/app/app.go", "ReadHeaderTimeout: 10 * time.Second,", "", "./internal/app -run TestConnectionsAreBounded"},
	{"idle time-out", "internal/app/app.go", "IdleTimeout:       2 * time.Minute,", "", "./internal/app -run TestConnectionsAreBounded"},
	{"size of headers", "internal/app/app.go", "MaxHeaderBytes:    maxHeaderBytes,", "", "./internal/app -run TestConnectionsAreBounded"},
	{"deadlines of all doors", "internal/app/guard.go", "g.rates.Serve(w, r.WithContext(ctx), func(", "func(w http.ResponseWriter, r *http.Request, h http.HandlerFunc) { _ = g.rates; h(w, r) }(w, r.WithContext(ctx), func(", "./internal/app -run TestEveryRouteHasItsWalls"},
	{"number of header fields", "internal/app/guard.go", "if fields(r.Header) > maxHeaderFields {", "if false {", "./internal/app -run TestAHeaderOfManyFieldsIsRefused"},
	{"memory of strangers' headers", "internal/app/strangers.go", "if c.all.charged.Add(n) > c.all.limit {", "if c.all.charged.Add(n) < 0 {", "./internal/app -run TestStrangersHeadersAreBounded"},
	{"places of strangers", "internal/app/connections.go", "if counted.known.Load() {", "if true {", "./internal/app -run TestStrangersHoldNoPlace"},
	{"slow bodies", "internal/front/datarate/exchange.go", "_ = e.conn.SetReadDeadline(due)", "", "./internal/front/datarate"},
	{"trickling bodies", "internal/front/datarate/exchange.go", "if silence := now.Add(e.pause()); silence.Before(due) {", "if silence := now.Add(e.pause()); true {", "./internal/front/datarate"},
	{"slow readers", "internal/front/datarate/exchange.go", "_ = e.conn.SetWriteDeadline(due)", "", "./internal/front/datarate"},
	{"bodies nobody reads", "internal/front/datarate/exchange.go", "if e.draining {\n\t\t_ = e.conn.SetReadDeadline(now", "if false {\n\t\t_ = e.conn.SetReadDeadline(now", "./internal/front/datarate"},
	{"patience once the program stops", "internal/app/app.go", "a.rates.Drain()", "", "./internal/app -run TestAReaderThatDoesNotReadDoesNotHoldUpTheEnd"},
	{"limit of chat and of every path below /v1", "internal/llm/proxy/proxy.go", "if over != nil {\n\t\tp.refuse(w, r, nil, p.refusedBy(w, over))", "if false {\n\t\tp.refuse(w, r, nil, p.refusedBy(w, over))", "./internal/llm/proxy -run TestEveryWayToAProviderIsLimited"},
	{"credentials of a client for another provider", "internal/llm/proxy/credentials.go", "if to == p.addressee(r) {", "if true {", "./internal/llm/proxy -run TestCredentialsReachTheirOwnProviderOnly"},
	{"denied model under its maker's name", "internal/llm/proxy/admission.go", "p.routeIn(formatOf(r), isSignedIn(r), model)", "p.route(model)", "./internal/llm/proxy -run TestADeniedModelIsHiddenUnderItsMakersName"},
	{"token of a ChatGPT account", "internal/llm/proxy/credentials.go", "!to.isChatGPT() && !p.hasKey(to)", "false", "./internal/llm/proxy -run TestAChatGPTAccountIsRefused"},
	{"number of messages", "internal/llm/chat/format.go", "if len(c.Messages) >= MaxItems {", "if false {", "./internal/llm/chat -run TestARequestHasABoundedNumberOfThings"},
	{"number of parts", "internal/llm/chat/reader.go", "if r.parts > MaxItems {", "if false {", "./internal/llm/chat -run TestARequestHasABoundedNumberOfThings"},
	{"memory of messages", "internal/llm/chat/reader.go", "r.err = r.charge(int64(bytes))", "_ = bytes", "./internal/llm/chat -run TestMemoryIsCharged"},
	{"usage that a provider leaves out", "internal/llm/proxy/spending.go", "u.Input = x.promptGuess()", "_ = x", "./internal/llm/proxy -run TestAStreamWithoutUsageIsEstimated"},
	{"hanging up before the last event", "internal/llm/proxy/spending.go", "u.Output == 0 || ended.broken()", "u.Output == 0", "./internal/llm/proxy -run TestHangingUp"},
	{"output without a price", "internal/llm/proxy/spending.go", "if prices.Output == 0 {", "if false {", "./internal/llm/proxy -run TestAnUnknownPriceIsTheDearest"},
	{"budgets on paths that pass unread", "internal/llm/proxy/admission.go", `limit != "" {`, `limit == "-" {`, "./internal/llm/proxy -run TestWhereABudgetMatches"},
	{"cookies of a provider", "internal/llm/proxy/observer.go", `delete(dst, "Set-Cookie")`, "", "./internal/llm/proxy -run TestAProviderHasNoPagesInOurOrigin"},
	{"pages of a provider", "internal/llm/proxy/observer.go", `if slices.ContainsFunc(src["Content-Type"], isPage) {`, `if _ = slices.ContainsFunc(src["Content-Type"], isPage); false {`, "./internal/llm/proxy -run TestAProviderHasNoPagesInOurOrigin"},
	{"body limit of chat", "internal/llm/proxy/body.go", "case int64(len(body.bytes)) > limit:", "case false:", "./internal/llm/proxy"},
	{"upgrades nobody asked for", "internal/llm/proxy/send.go", "(!isWebSocket(req.Header) || !isWebSocket(res.Header))", "false", "./internal/llm/proxy"},
	{"h2c", "internal/llm/proxy/upgrade.go", `if !strings.EqualFold(strings.Join(h["Upgrade"], ","), webSocket) {`, "if false {", "./internal/llm/proxy"},
	{"our headers of a provider", "internal/llm/proxy/send.go", "withoutOurs(res.Header)", "", "./internal/llm/proxy"},
	{"our trailers of a provider", "internal/llm/proxy/answer.go", "withoutOurs(a.res.Trailer)", "", "./internal/llm/proxy"},
	{"header block of a provider", "internal/llm/proxy/transport.go", "MaxResponseHeaderBytes: maxHeaderBytes,", "", "./internal/llm/proxy"},
	{"header block of a server", "internal/mcp/upstream/endpoint.go", "MaxResponseHeaderBytes: 256 << 10,", "", "./internal/app -run TestAServersHeaderBlockIsBounded"},
	{"denied tools among those found", "internal/mcp/aggregate/toolindexes.go", "parts[i] = p.Only(func(it toolindex.Item) bool { return sees(it.Server, it.Name) })", "parts[i] = p", "./internal/mcp/aggregate -run TestADeniedToolIsAsOneThatDoesNotExist"},
	{"an index for each set of rights", "internal/mcp/aggregate/toolindexes.go", "b.generation == generation && b.visible == visible", "b.generation == generation", "./test -run TestDeniedServersAreAsAbsentWhereToolsAreFound"},
	{"denied tools among those described", "internal/mcp/aggregate/findtools.go", "if !ok || !listed || !a.lists(catalog.Tools, server, tool) {", "if !ok || !listed {", "./internal/mcp/aggregate -run TestADeniedToolIsAsOneThatDoesNotExist"},
	{"tools that may change something through call_tool_read", "internal/mcp/aggregate/calltool.go", "if a.via == callToolRead && ", "if false && ", "./internal/mcp/aggregate -run TestCallToolReadRefusesWhatMayChangeSomething"},
	{"labels that clients make up", "internal/mcp/aggregate/metrics.go", "Method: telemetry.MethodLabel(req.Method)", "Method: req.Method", "./internal/app -run TestCallersMakeUpNoLabels"},
	{"labels of unknown servers", "internal/mcp/gateway/gateway.go", "if up != nil {\n\t\tt.Server = up.ID()\n\t}", "t.Server = r.PathValue(\"server\")", "./internal/app -run TestCallersMakeUpNoLabels"},
	{"declared lengths", "internal/mcp/buffer/read.go", "Get(min(max(whole, usual), firstStep))[:room]", "Get(max(whole, usual))[:room]", "./internal/mcp/buffer"},
	{"bodies of strangers", "internal/mcp/downstream/post.go", "strangerBytes = 64 << 10", "strangerBytes = 32 << 20", "./internal/mcp/downstream"},
	{"number of strangers", "internal/mcp/downstream/post.go", "maxStrangers  = 64", "maxStrangers  = 1 << 20", "./internal/mcp/downstream"},
	{"opening of sessions", "internal/mcp/downstream/post.go", "return q.h.opt.Openings.Allow(q.principal.Key())", "return 0, true", "./internal/mcp/downstream"},
	{"abandoned sessions", "internal/mcp/downstream/registry.go", "if len(all) <= maxResting {", "if true {", "./internal/mcp/downstream"},
	{"processes of one caller's sessions", "internal/mcp/pool/private.go", "case len(own) >= f.opt.MaxOfOwner:", "case false:", "./internal/mcp/pool"},
	{"answers on a pipe while they come", "internal/mcp/upstream/stdio.go", "r.Room = p.s.u.newRoom().take", "", "./internal/mcp/upstream"},
	{"events while they come", "internal/mcp/upstream/sse.go", "e.room = u.newRoom().take", "", "./internal/mcp/upstream"},
	{"share of a principal", "internal/access/share.go", "return room - room/4", "return room", "./internal/access"},
	{"share of a tenant", "internal/access/share.go", "room = share(room+tenant) - tenant", "_ = tenant", "./internal/access"},
	{"share of the bytes in flight", "internal/front/budget/budget.go", "if !b.share.Take(h, n, limit) {", "if !b.share.Take(h, n, limit) && false {", "./internal/front/budget"},
	{"share of parked calls", "internal/mcp/aggregate/parkedcalls.go", "if !t.share.Take(p.holder, 1, maxParked) {", "if len(t.open) >= maxParked {", "./internal/mcp/aggregate -run TestOneCallerDoesNotParkTheCallsOfAllOthers"},
	{"share of sessions", "internal/mcp/downstream/registry.go", "return g.share.Take(access.HolderOf(p), 1, int64(g.max))", "return len(g.all)+len(g.opening) < g.max", "./internal/mcp/downstream -run TestOneCallerDoesNotOpenTheSessionsOfAllOthers"},
	{"share of nonces", "internal/access/auth/nonces.go", "case !n.share.Take(h, 1, maxNonces):", "case len(n.now) >= maxNonces:", "./internal/access/auth -run TestOneKeyDoesNotUseUpTheNoncesOfOthers"},
	{"share of captures", "internal/ops/capture/book.go", "for !b.share.Take(e.holder, 1, mostExchanges) {", "for len(b.order) >= mostExchanges {", "./internal/ops/capture"},
	{"share of buckets", "internal/access/limit/limit.go", "if !l.share.Take(h, 1, maxBuckets) {", "if len(l.all) >= maxBuckets {", "./internal/access/limit -run TestOneCallerDoesNotUseUpTheBucketsOfOthers"},
	{"tools that no server lists", "internal/access/limit/limit.go", `c.Unlisted && k.tool != "" {`, `false {`, "./internal/access/admission ./internal/access/limit"},
	{"tools that are hidden count as those that are not there", "internal/access/admission/admission.go", "call.Unlisted = call.Unlisted || c.hasTool != nil", "_ = call.Unlisted", "./internal/access/admission"},
	{"room of a tenant's records in Redis", "internal/store/records/redismany.go", "if c = w.charged[i]; c.full {", "if c = w.charged[i]; false {", "./internal/store/records -run TestRedisBoundsTheRoomOfATenant"},
	{"budget before every door", "internal/app/guard.go", "held, err := g.budget.Open(access.HolderOf(p))", "held, err := (*budget.Budget)(nil).Open(access.HolderOf(p))", "./internal/app -run TestWhatThereIsNoMemoryForIsCounted"},
	{"size of an answer", "internal/prune/pruner/recover.go", "budget < 0 {", "false {", "./internal/prune/pruner"},
	{"clock of a search", "internal/prune/pruner/search.go", "f.effort = 0\n\tif f.expired() {", "f.effort = 0\n\tif false {", "./internal/prune/pruner"},
	{"names of other servers", "internal/mcp/catalog/resolve.go", "if owner == several {\n\t\tat, ok", "if true {\n\t\tat, ok", "./internal/mcp/catalog"},
	{"names of longer ids", "internal/mcp/catalog/naming.go", "(attempt > 0 || !n.looksForeign(servers, e.server, names[i]))", "true", "./internal/mcp/catalog"},
	{"makers of tasks", "internal/mcp/tasks/owners.go", "return owner == c.name ||", "return true ||", "./internal/mcp/tasks"},
	{"tasks that nobody is known to have made", "internal/mcp/tasks/owners.go", "return !c.known", "return true", "./internal/mcp/tasks"},
	{"tasks through the aggregate", "internal/mcp/aggregate/forward.go", "if tasks.Names(a.Method) {", "if tasks.Names(a.Method) && false {", "./internal/mcp/aggregate"},
	{"tasks through the gateway", "internal/mcp/gateway/tasks.go", "if !tasks.Names(req.Method) {", "if true {", "./internal/mcp/gateway"},
	{"look-alikes of the envelope", "internal/mcp/wire/value.go", "func isFolded(name string) bool {\n\tname = visible(name)", "func isFolded(name string) bool {", "./internal/mcp/wire"},
	{"secrets in stderr", "internal/mcp/child/stderr.go", "s = strings.ReplaceAll(s, hidden, secret.Mask)", "_ = hidden", "./internal/mcp/child"},
	{"links in the store", "internal/store/originals/fileplaces.go", "case info.Mode().Type() != kind:", "case false:", "./internal/store/originals"},
	{"owner of the store", "internal/store/originals/fileplaces_unix.go", "int(owner.Uid) != os.Geteuid()", "false", "./internal/store/originals"},
	{"pipes in the store", "internal/store/atomicfile/nofollow_unix.go", "syscall.O_NOFOLLOW | syscall.O_NONBLOCK", "0 * syscall.O_NOFOLLOW", "./internal/store/originals -timeout 30s -run TestPlacesThatChangeUnderWay"},
	{"pipes among the records", "internal/store/atomicfile/nofollow_unix.go", "syscall.O_NOFOLLOW | syscall.O_NONBLOCK", "0 * syscall.O_NOFOLLOW", "./internal/store/records -timeout 30s -run TestFileTakesWhatIsNoFileForNone"},
	{"damage in the store", "internal/store/originals/fileio.go", "err = checkSums(content, tenant)", "_ = content", "./internal/store/originals"},
	{"share of a tenant in memory", "internal/store/originals/memory.go", "m.has(tenant)+cost <= left", "true", "./internal/store/originals"},
	{"share of a tenant on disk", "internal/store/originals/fileshare.go", "f.usage.of[t]+size <= left", "true", "./internal/store/originals"},
	{"whose oldest go in memory", "internal/store/originals/memory.go", "if s.bytes > bytes {", "if s.bytes > bytes && false {", "./internal/store/originals"},
	{"whose oldest go on disk", "internal/store/originals/fileoldest.go", "if bytes > has[most] {", "if bytes > 0 {", "./internal/store/originals"},
	{"tenant of an id that is pruned", "internal/llm/proxy/frozen.go", "Originals.ID(x.tenant, conv", "Originals.ID(\"\", conv", "./internal/llm/proxy"},
	{"tenant of an id that is masked", "internal/llm/proxy/masking.go", "Originals.ID(x.tenant, text)", "Originals.ID(\"\", text)", "./internal/llm/proxy"},
	{"slashes in a tenant's name", "internal/llm/proxy/past.go", "if !strings.ContainsAny(tenant, \"/%\") {", "if strings.Contains(tenant, \"\") {", "./internal/llm/proxy"},
	{"claims in other letters", "internal/access/auth/keys.go", "if name != r && strings.EqualFold(name, r) {", "if name != r && strings.EqualFold(name, r) && false {", "./internal/access/auth"},
	{"claims twice", "internal/access/auth/keys.go", "check.Unique = true", "", "./internal/access/auth"},
	{"tenant without a name", "internal/access/auth/jwt.go", `|| tenant[0] == ""`, "", "./internal/access/auth"},
	{"configuration of the working directory", "cmd/secateur/recover.go", `w.usable(file, "", usersOwn)`, `w.usable(file, "", orWorkingDir)`, "./cmd/secateur"},
	{"readiness before the end", "internal/app/lameduck.go", "wait(drain, delay-last)", "wait(drain, 0)", "./internal/app -run TestNotReadyComesBeforeTheListenerCloses"},
	{"role of the control plane", "internal/app/control.go", `return g.role(d, access.RoleAdmin)`, `return g.shut(plainRefusal, d)`, "./internal/app -run TestEveryRouteWithEveryCredential"},
	{"same origin of the control plane", "internal/app/control.go", `own.policy.Origins = nil`, `_ = own.policy.Origins`, "./internal/app -run TestControlIsForTheSameOrigin"},
	{"If-Match of the control plane", "internal/ops/admin/editservers.go", `!hasTag(tags, tag) {`, `!hasTag(tags, tag) && false {`, "./internal/app -run TestControlRefusesEdits"},
	{"If-None-Match of the control plane", "internal/ops/admin/operation.go", `if hasTag(r.Header.Values("If-None-Match"), tag) {`, `if hasTag(r.Header.Values("If-None-Match"), tag) && false {`, "./internal/app -run TestControlTags"},
	{"ages in an ETag", "internal/ops/admin/etag.go", `volatile[tok.String()] {`, `volatile[tok.String()] && false {`, "./internal/app -run TestControlTags"},
	{"size of a page of the control plane", "internal/ops/admin/page.go", `n < 1 || n > most {`, `n < 1 {`, "./internal/app -run TestControlPages"},
	{"problem+json of the control plane", "internal/ops/admin/problem.go", `"application/problem+json")`, `"application/json")`, "./internal/app -run TestControl|TestAnswers"},
	{"unknown query parameters", "internal/ops/admin/operation.go", `if o.parameter(name) == nil {`, `if false {`, "./internal/app -run TestControl|TestAnswers"},
	{"commands over the control plane", "internal/app/editservers.go", `if !e.a.loaded.Load().Admin.AllowCommands {`, `if false {`, "./internal/app -run TestControlRefusesEdits"},
	{"number of templates", "internal/mcp/templates/book.go", `case len(b.entries) >= MaxTemplates:`, `case false:`, "./internal/mcp/templates"},
	{"size of a filled template", "internal/mcp/templates/pattern.go", `if out.Len() > most {`, `if false {`, "./internal/mcp/templates"},
	{"names that a server does not have", "internal/access/admission/absent.go", `if named < 0 || !saysAbsent(`, `if true || !saysAbsent(`, "./internal/access/admission -run TestAbsent"},
	{"what is left of a limit", "internal/access/admission/admission.go", "if !no.Hides() {\n\t\treturn no", "if true {\n\t\treturn no", "./test -run TestDeniedAndAbsentNamesOfOneServerAnswerAlike"},
	{"models that a provider does not have", "internal/llm/proxy/send.go", `&& saysNoModel(res) {`, `&& false {`, "./internal/llm/proxy -run TestDeniedAndAbsentModelsAnswerAlike"},
	{"names of hidden servers", "internal/mcp/aggregate/server.go", `return !s.now.Load().Admission.Sees(p, access.DoorMCP, id) })`, `return false })`, "./test -run TestHiddenServersAnswerAsThoseThatAreNotThere"},
	{"certificates that are nobody's", "internal/access/access.go", ` || v.Way == WayCertificate)`, `)`, "./test -run TestClientCertificates"},
	{"pins of what has changed since it was listed", "internal/access/admission/held.go", `err := by.Settle(ctx, t.Server, l)`, `err := error(nil)`, "./test -run TestCallsOfAToolThatHasChangedSinceItWasListedAreHeldBack"},
	{"pins of a server that does not list", "internal/access/admission/held.go", "if err != nil && l != catalog.Resources {", "if err != nil && false {", "./internal/access/admission -run TestAToolThatCannotBeComparedIsHeldBack"},
	{"pins of what was not there", "internal/access/pins/book.go", "case !known && first:", "case !known:", "./internal/access/pins -run TestWhatComesLaterIsNew"},
	{"pins of all members", "internal/access/pins/definition.go", "append(slices.Clone(pinnedMembers), slices.Compact(rest)...)", "slices.Clone(pinnedMembers)", "./internal/access/pins -run TestFormerPinsAreTakenOver"},
	{"pins of unlisted tools", "internal/access/pins/book.go", "case (kind == Tool || kind == Prompt) && !p.isFirst(kind):", "case false:", "./internal/access/pins -run TestWhatComesLaterIsNew"},
	{"unlisted tools with strict pins", "internal/access/admission/held.go", `why = "" // answered as an unknown name`, `return nil`, "./internal/access/admission -run TestAnUnlistedToolIsUnknownWithStrictPins"},
	{"pins of templates in completions", "internal/access/admission/held.go", `if why == "" && l == catalog.Resources {`, `if false {`, "./internal/access/admission -run TestCompletionOfAHeldTemplateIsRefused"},
	{"look-alikes of denied names", "internal/access/admission/admission.go", `if targets[0].Kind != access.KindNone && !c.lists(ctx, t, by) {`, `if false {`, "./internal/access/admission -run TestWithRulesUnlistedNamesAreUnknown"},
	{"completions below a denied prefix", "internal/access/admission/completion.go", `if c == nil || !c.rules.DeniesResources(p, door, server) {`, `if true {`, "./internal/access/admission -run TestCompletionTellsNoDeniedNames"},
	{"completions of one server", "internal/mcp/gateway/access.go", `if reply.Error != nil || req.Method != "completion/complete" {`, `if true {`, "./test -run TestWhatRulesHideIsNotFoundBeside"},
	{"completions at /mcp", "internal/mcp/aggregate/forward.go", `if e.a.Method == "completion/complete" {`, `if false {`, "./test -run TestWhatRulesHideIsNotFoundBeside"},
	{"servers of which nothing may be used", "internal/access/admission/sees.go", `return !whole || c.seesSome(p, door, lists)`, `return !whole || c.seesSome(p, door, lists) || true`, "./internal/access/admission -run TestSeesByWhatIsListed"},
	{"lists of servers for rules", "internal/app/auth.go", `LastListed: gen.lastListed,`, ``, "./test -run TestWhatRulesHideIsNotFoundBeside"},
	{"approval of one thing", "internal/access/pins/pins.go", "name == n && !done", "name == n", "./internal/access/pins -run TestOneNameApprovesOneThing"},
	{"pins of instructions at /mcp", "internal/mcp/aggregate/handshake.go", "ok && !now.Admission.HoldsInstructions(ctx, p.Server, text)", "ok", "./test -run TestStrictPinsHoldBackWhateverWasNotApproved"},
	{"pins of instructions of one server", "internal/access/admission/held.go", `if c.HoldsInstructions(ctx, server, rawjson.GetText(result, "instructions")) {`, `if false {`, "./test -run TestStrictPinsHoldBackWhateverWasNotApproved"},
	{"changes told on the stream of a call", "internal/mcp/upstream/incoming.go", `announced != nil && strings.HasSuffix(`, `announced != nil && origin == nil && strings.HasSuffix(`, "./test -run TestCallsOfAToolThatHasChangedSinceItWasListedAreHeldBack"},
	{"lists of a server that is there anew", "internal/mcp/pool/settle.go", `taken.peer != peer || `, ``, "./internal/mcp/pool -run TestSettledMeansThatTheNewestListIsTakenIn"},
	{"names in notifications", "internal/mcp/aggregate/notifications.go", "permit, no := control.AskListed(ctx, p, n.Method, c.member, targets...)\n\tif no != nil {", "permit, no := control.AskListed(ctx, p, n.Method, c.member, targets...)\n\tif no != nil && false {", "./test -run TestDeniedNamesReachNoServerInAnyForm"},
	{"calls without a name", "internal/access/admission/admission.go", ` || c.rules != nil && t.IsNameless() {`, ` {`, "./test -run TestDeniedNamesReachNoServerInAnyForm"},
	{"completions that name two things", "internal/access/admission/rpc.go", `&& rawjson.Get(ref, "uri") == nil:`, `:`, "./internal/access/admission -run TestTargetsOf"},
	{"completions through the aggregate that name two things", "internal/mcp/aggregate/route.go", `if a.Method == "completion/complete" {`, `if false {`, "./test -run TestDeniedNamesReachNoServerInAnyForm"},
	{"credentials twice", "internal/access/auth/auth.go", `if p != nil && isTwice(r.Header, way) {`, `if false {`, "./internal/access/auth"},
	{"token in a message before the certificate", "internal/mcp/aggregate/admission.go", `if p != nil && p.Issuer != access.IssuerMTLS {`, `if p != nil {`, "./test -run TestClientCertificates"},
	{"bodies that were not signed", "internal/access/signedbody.go", `if last && subtle`, `if false && subtle`, "./internal/access -run TestSignedBody"},
	{"bodies that are read no further than their length", "internal/access/signedbody.go", `last = last || b.left <= 0`, ``, "./internal/access -run TestSignedBody"},
	{"rules at the gateway", "internal/mcp/gateway/gateway.go", "by.targets); no != nil {", "by.targets); false {", "./internal/mcp/gateway"},
	{"what may be denied of a server", "internal/access/rules.go", "hit[w]&s.deciding[w]&^s.allowing[w] != 0 {", "hit[w]&s.deciding[w]&^s.allowing[w] != 0 && false {", "./internal/access"},
	{"what is denied of a server to all", "internal/access/rules.go", "if s.closed || s.reads { //", "if false { //", "./internal/access"},
	{"tasks of hidden servers", "internal/mcp/aggregate/tasks.go", "if !a.now.Admission.Sees(a.principal, access.DoorMCP, server) {", "if !a.now.Admission.Sees(a.principal, access.DoorMCP, server) && false {", "./internal/mcp/aggregate -run TestTasksOfAHiddenServerAreNotFollowed"},
	{"declared lengths over the limit", "internal/mcp/buffer/read.go", "if size > int64(limit) {", "if false {", "./internal/mcp/buffer"},
	{"declared lengths of chat over the limit", "internal/llm/proxy/body.go", "if r.ContentLength > limit {", "if false {", "./internal/llm/proxy -run TestBodiesAreRefusedForWhatTheyAre"},
	{"what slow bodies are told", "internal/mcp/rpchttp/read.go", "case errors.Is(err, datarate.ErrTooSlow):", "case errors.Is(err, datarate.ErrTooSlow) && false:", "./internal/mcp/rpchttp"},
	{"what slow bodies of chat are told", "internal/llm/proxy/failure.go", "if errors.Is(err, datarate.ErrTooSlow) {", "if errors.Is(err, datarate.ErrTooSlow) && false {", "./internal/llm/proxy -run TestBodiesAreRefusedForWhatTheyAre"},
	{"relative places in PATH", "internal/mcp/child/process.go", `if dir == "" || !filepath.IsAbs(dir) {`, "if false {", "./internal/mcp/child"},
	{"ids that are none, in Redis", "internal/store/originals/redis.go", "if !isID(id) {", "if false {", "./internal/store/originals -run TestRedisIsNotAskedForWhatIsNoID"},
	{"depth of YAML", "internal/config/yamltree.go", "if depth > maxDepth {", "if false {", "./internal/config"},
	{"size of what prune unpacks", "internal/prune/pruner/readinput.go", "if len(out) > most {", "if false {", "./internal/prune/pruner"},
	{"redaction of long answers", "internal/llm/proxy/redaction.go", "if int64(len(whole)) > most {", "if false {", "./internal/llm/proxy -run TestALongAnswerIsNotPassedUnredacted"},
	{"answers of replicas", "internal/ops/replica/forward.go", "if int64(len(a.Body)) > c.MaxBytes {", "if false {", "./internal/ops/replica"},
	{"events of replicas", "internal/ops/replica/forward.go", "if int64(len(line)+len(part)) > c.MaxBytes+100 {", "if false {", "./internal/ops/replica"},
	{"cli: escapes on standard output", "cmd/secateur/world.go", `out: &screen{to: os.Stdout}`, `out: os.Stdout`, "./cmd/secateur -run TestScripts/import"},
	{"cli: characters that terminals hide", "cmd/secateur/screen.go", `unicode.Cc, unicode.Cf, `, `unicode.Cc, `, "./cmd/secateur -run TestTerminals"},
	{"cli: commands in a consent", "internal/config/hide.go", `case "command", "args", "cwd":`, `case "no such key":`, "./internal/config -run TestSecretsAreHidden"},
	{"cli: host in a consent", "internal/config/hide.go", `!isURL {`, `true || isURL {`, "./internal/config -run TestSecretsAreHidden"},
	{"cli: import of a device", "internal/ops/clients/keeper.go", `!info.Mode().IsRegular()`, `false && !info.Mode().IsRegular()`, "./cmd/secateur -timeout 60s -run TestScripts/import"},
	{"environment over the control plane", "internal/app/editservers.go", `key != "" && !e.a.loaded`, `key != "" && false && !e.a.loaded`, "./internal/app -run TestControlRefusesEdits"},
	{"keys that name variables over the control plane", "internal/config/serverlist.go", `case "env_vars", "envFile",`, `case "env_vars", "", "x",`, "./internal/app -run TestControlRefusesEdits"},
	{"secrets of a store's address", "internal/app/control.go", `secret.URL(a.cfg.Store.URL)`, `a.cfg.Store.URL`, "./internal/app -run TestStatusShowsNoSecretOfTheStore"},
	{"secrets of a provider's address", "internal/ops/doctor/provider.go", `shown := secret.URL(base)`, `shown := base`, "./internal/ops/doctor"},
	{"process of a server with another timeout", "internal/config/compare.go", `case was.SameProcess(s):`, `case reflect.DeepEqual(was, s):`, "./internal/config"},
}

func main() {
	name := flag.String("run", "", "only those of the list whose name holds this `word`, and none that is drawn")
	listed := flag.Bool("listed", true, "try those of the list")
	drawn := flag.Int("draw", 40, "how many more are drawn at random")
	seed := flag.Uint64("seed", today(time.Now()), "of the draw")
	strict := flag.Bool("strict", false, "fail also if one that was drawn survives")
	limit := flag.Duration("timeout", 3*time.Minute, "for the tests of one mutant")
	flag.Parse()
	b := bench{limit: *limit}
	failed, err := b.runAll(context.Background(), *name, *listed, *drawn, *seed)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	case failed.listed > 0 || *strict && failed.drawn > 0:
		os.Exit(1)
	}
}

// bench tries mutants in a scratch copy of the sources.
type bench struct {
	dir   string
	limit time.Duration
}

// survived counts the surviving mutants.
type survived struct{ listed, drawn int }

func (b *bench) runAll(ctx context.Context, name string, listed bool, drawn int, seed uint64) (failed survived, err error) {
	if b.dir, err = os.MkdirTemp("", "mutants-"); err != nil {
		return failed, err
	}
	defer os.RemoveAll(b.dir)
	if err := copySources(ctx, b.dir); err != nil {
		return failed, err
	}
	if listed {
		var some []placed
		for _, m := range mutants {
			if strings.Contains(m.name, name) {
				some = append(some, placed{mutant: m})
			}
		}
		if survivors := b.run(ctx, some); len(survivors) > 0 {
			fmt.Printf("\n%d survived: no test leans on %s\n", len(survivors), strings.Join(survivors, "; "))
			failed.listed = len(survivors)
		}
	}
	if name != "" || drawn <= 0 {
		return failed, nil
	}
	all, err := guards("internal", "cmd")
	if err != nil {
		return failed, err
	}
	fmt.Printf("\n%d of %d guards, drawn with -seed %d\n", min(drawn, len(all)), len(all), seed)
	if survivors := b.run(ctx, draw(all, drawn, seed)); len(survivors) > 0 {
		fmt.Printf("\n%d that were drawn survived; write a test, or take out what changes nothing:\n\t%s\n", len(survivors), strings.Join(survivors, "\n\t"))
		failed.drawn = len(survivors)
	}
	return failed, nil
}

// run tries mutants one after another and returns the names of the survivors.
func (b *bench) run(ctx context.Context, some []placed) (survivors []string) {
	for _, m := range some {
		began := time.Now()
		red, why, err := b.try(ctx, m)
		word := "red  "
		switch {
		case err != nil:
			word, why = "WRONG", err.Error()
			survivors = append(survivors, m.name)
		case !red:
			word = "GREEN"
			survivors = append(survivors, m.name)
		}
		fmt.Printf("%s  %-45s %5.1f s  %s\n", word, m.name, time.Since(began).Seconds(), why)
	}
	return survivors
}

// try runs the tests on one mutant and restores the file.
func (b *bench) try(ctx context.Context, m placed) (red bool, why string, err error) {
	path := filepath.Join(b.dir, m.file)
	whole, err := os.ReadFile(path)
	if err != nil {
		return false, "", err
	}
	at := bytes.Index(whole[m.at:], []byte(m.old))
	if at < 0 || m.at > 0 && at > 0 {
		return false, "", fmt.Errorf("%s: %s has no %q any more: say where the guard is now", m.name, m.file, m.old)
	}
	defer func() { _ = os.WriteFile(path, whole, 0o600) }() //nolint:gosec // in the scratch copy
	at += m.at
	changed := slices.Concat(whole[:at], []byte(m.new), whole[at+len(m.old):])
	if err := os.WriteFile(path, changed, 0o600); err != nil { //nolint:gosec // in the scratch copy
		return false, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, b.limit+time.Minute)
	defer cancel()
	test := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-timeout", b.limit.String()}, strings.Fields(m.tests)...)...)
	test.Dir = b.dir
	out, err := test.CombinedOutput()
	if err == nil {
		return false, "", nil
	}
	if bytes.Contains(out, []byte("[build failed]")) {
		return false, "", fmt.Errorf("%s: the mutant does not build:\n%s", m.name, out)
	}
	if ctx.Err() != nil {
		return true, "timed out", nil
	}
	return true, firstFailure(out), nil
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

func firstFailure(out []byte) string {
	if found := failure.FindSubmatch(out); found != nil {
		return string(found[1])
	}
	if bytes.Contains(out, []byte("panic: test timed out")) {
		return "timed out"
	}
	return "failed"
}

// copySources copies what the tests need, without files that are not checked in.
func copySources(ctx context.Context, dir string) error {
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		content, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if info, err := os.Stat(name); err == nil && info.Mode()&0o100 != 0 {
			mode = 0o700
		}
		if err := os.WriteFile(to, content, mode); err != nil { //nolint:gosec // in the scratch copy
			return err
		}
	}
	return nil
}
