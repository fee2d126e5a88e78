package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// today is the default seed of a draw: the date, as a number.
func today(now time.Time) uint64 {
	year, month, day := now.UTC().Date()
	return uint64(year*10_000 + int(month)*100 + day) //nolint:gosec // after the year 0
}

// draw takes n guards at random, the same ones for the same seed and sources.
func draw(all []placed, n int, seed uint64) []placed {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all)) //nolint:gosec // it must be repeatable
	drawn := make([]placed, 0, n)
	for _, i := range order[:min(n, len(order))] {
		drawn = append(drawn, all[i])
	}
	return drawn
}

// guards finds the guards of the program below the working directory, in packages with tests.
func guards(roots ...string) (all []placed, err error) {
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || strings.HasSuffix(d.Name(), "test")):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || !isTested(filepath.Dir(path)):
				return nil
			}
			if ours, err := build.Default.MatchFile(filepath.Dir(path), d.Name()); err != nil || !ours {
				return err
			}
			source, err := os.ReadFile(path) //nolint:gosec // the sources of this repository
			if err != nil {
				return err
			}
			found, err := guardsIn(filepath.ToSlash(path), source)
			all = append(all, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func isTested(dir string) bool {
	tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	return len(tests) > 0
}

// guardsIn finds the guards of a file: an if without an else whose body ends with a refusal. The
// mutant never refuses.
func guardsIn(path string, source []byte) (found []placed, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	var results []*ast.FieldList // of the enclosing functions
	var inspect func(n ast.Node) bool
	inspect = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			results = append(results, n.Type.Results)
			if n.Body != nil {
				ast.Inspect(n.Body, inspect)
			}
			results = results[:len(results)-1]
			return false
		case *ast.FuncLit:
			results = append(results, n.Type.Results)
			ast.Inspect(n.Body, inspect)
			results = results[:len(results)-1]
			return false
		case *ast.IfStmt:
			from, to := set.Position(n.Cond.Pos()), set.Position(n.Cond.End())
			condition := string(source[from.Offset:to.Offset])
			if n.Else == nil && !passesOn(condition) && refuses(n.Body.List, results[len(results)-1]) {
				name, tests := fmt.Sprintf("%s:%d", path, from.Line), "./"+filepath.ToSlash(filepath.Dir(path))
				found = append(found, placed{mutant{name, path, condition, "false && (" + condition + ")", tests}, from.Offset})
			}
		}
		return true
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			inspect(f)
		}
	}
	return found, nil
}

// passesOn reports whether a condition only checks for an earlier error: the guard is where that
// was found.
func passesOn(condition string) bool { return condition == "err != nil" }

var refusing = regexp.MustCompile(`(?i)refus|reject|deny|denied|forbid|complain|fail|unauthor|httperror`)

// refuses reports whether statements end with an error or a refusal, or by skipping an item.
func refuses(body []ast.Stmt, results *ast.FieldList) bool {
	if len(body) == 0 {
		return false
	}
	switch last := body[len(body)-1].(type) {
	case *ast.BranchStmt:
		return last.Tok == token.CONTINUE
	case *ast.ReturnStmt:
		if len(last.Results) == 0 && len(body) > 1 { // a refusal was written
			done, ok := body[len(body)-2].(*ast.ExprStmt)
			return ok && refusing.MatchString(nameOf(done.X))
		}
		if len(last.Results) == 0 || results == nil || len(results.List) == 0 {
			return false
		}
		kind, value := results.List[len(results.List)-1].Type, nameOf(last.Results[len(last.Results)-1])
		if nameOf(kind) == "error" { // any function may return an error, or nil
			return value != "err" && makesError.MatchString(value)
		}
		return isFailure(kind) && value != "nil" && value != `""`
	}
	return false
}

// makesError matches variables and functions that are errors, or make one.
var makesError = regexp.MustCompile(`(?i)(^|\.)err|error|fail|refus|^errors\.New$`)

var failures = []string{"Error", "Failure", "failure", "Refusal", "refusal", "Cause", "Verdict"}

// isFailure reports whether a type describes a refusal.
func isFailure(t ast.Expr) bool {
	name := nameOf(t)
	return slices.Contains(failures, name[strings.LastIndexByte(name, '.')+1:])
}

// nameOf returns the name in an expression: a variable, a type, the function of a call.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.BasicLit:
		return e.Value
	case *ast.SelectorExpr:
		return nameOf(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return nameOf(e.X)
	case *ast.CallExpr:
		return nameOf(e.Fun)
	}
	return ""
}
