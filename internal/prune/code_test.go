package prune

import (
	"strings"
	"testing"
)

func TestStructuralLinesOfManyLanguages(t *testing.T) {
	for language, lines := range map[string]string{
		"python":      "import os|from a.b import (c, d)|class A(B):|def f(x):|    async def g(self, y):",
		"javascript":  "import x from 'y'|const a = require('b')|function f(a) {|class A extends B {|export default function g() {|export const h = async (a) => {|  handle(a, b) {|module.exports.f = function (a) {",
		"typescript":  "import { a } from './a'|export interface A {|type B = C | D;|export abstract class E<T> {|enum F {|export * from './g'|declare module 'x' {",
		"java":        "package a.b.c;|import java.util.List;|public class A implements B {|    private static int f(int a) throws IOException {|    public A(String b) {|@interface X|public record P(int x) {}|interface Q {",
		"c":           "#include <stdio.h>|static int f(int a, char *b) {|struct a {|typedef struct b {|int main(void)|void *g(size_t n)",
		"c++":         "#include \"a.h\"|namespace a {|class B : public C {|template <typename T> class D {|void A::f(int x) const {|using namespace std;",
		"c#":          "using System.Text;|namespace A.B|public sealed class C : D|    internal async Task<int> F(string a)|public interface IX|public enum E",
		"go":          "package main|import \"fmt\"|func f(a int) error {|func (s *S) Run() {|type S struct {|type F func(int) error",
		"rust":        "use std::io;|pub use a::b;|mod tests {|pub fn f(a: &str) -> u8 {|impl<T> A for B<T> {|pub(crate) struct C {|enum D {|pub trait E {|macro_rules! x {|pub async unsafe fn g() {|extern crate serde;",
		"php":         "namespace App\\Http;|use App\\User;|class A extends B|    public function f($a)|interface C|trait D|require_once 'x.php';",
		"ruby":        "require 'json'|require_relative 'a'|module A|class B < C|  def f(x)|  def self.g",
		"swift":       "import Foundation|class A: B {|struct C {|func f(_ a: Int) -> Int {|protocol D {|extension E {|    init(a: Int) {|enum F: String {|    private func g() {",
		"kotlin":      "package a.b|import a.c|class A(val b: Int) : C() {|fun f(x: Int): Int {|    override fun g() = 1|object O {|interface I {|data class D(val x: Int)|sealed class S",
		"scala":       "package a|import a.b._|object A extends App {|case class B(c: Int)|trait C {|  def f(x: Int): Int = {|  override def g = 1",
		"r":           "library(dplyr)|f <- function(a, b) {|g = function(x) x",
		"perl":        "package A::B;|use strict;|sub f {",
		"shell":       "f() {|function g {",
		"lua":         "local x = require(\"y\")|local function f(a)|function M.g(b)|M.h = function(c)",
		"sql":         "CREATE TABLE a (|create or replace function f()|CREATE UNIQUE INDEX i ON a (b)",
		"dart":        "import 'dart:io';|class A extends B {|  int f(int a) {|abstract class C {|mixin D {",
		"haskell":     "module A where|import Data.List|f :: Int -> Int|class A b where|instance Show A where|newtype B = B Int",
		"elixir":      "defmodule A.B do|  def f(x) do|  defp g(y) do|  alias A.C|  use GenServer",
		"objective-c": "#import <Foundation/Foundation.h>|@interface A : NSObject|@implementation A",
		"julia":       "using Plots|module A|function f(x)|struct B",
	} {
		for line := range strings.SplitSeq(lines, "|") {
			if language == "typescript" && (line == "type B = C " || line == " D;") {
				continue // a separate bar
			}
			body := strings.TrimLeft(line, " ")
			var s codeState
			if k := s.kind(body, uint16(len(line)-len(body))); k&isStructure == 0 {
				t.Errorf("%s: %q is not structural", language, line)
			}
		}
	}
}

func TestOrdinaryLinesAreNotStructural(t *testing.T) {
	for _, line := range []string{
		"x = f(a, b)", "return f(a,", "if (a) {", "} else if (b) {", "for (int i = 0; i < n; i++) {", "while (true) {", "foo(bar);", "foo(function () {", "describe(x, () => {",
		"a.b(c) {", "switch (a) {", "type(x)", "data = load()", "module.exports = x", "class_name = 'a'", "default:", "import_it()", "// import x", "# class A", "* def f",
		"struct stat st;", "else {", "elif x:", "except ValueError:", "catch (e) {", "print(f(x))", "yield f(x)", "await g(x)", "result := compute(a)", "let x = y", "const n = 3;",
		"self.assertEqual(a, b)", "throw new Error(x)", "record = next(rows)", "object = {}", "func_call(a)", "using_it = 1", "from_time = now()", "defer f.Close()", "go func() {",
	} {
		var s codeState
		if k := s.kind(line, 4); k&isStructure != 0 {
			t.Errorf("%q is structural", line)
		}
	}
}

func TestImportListsAndComments(t *testing.T) {
	text := "// Header of the file.\npackage a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n/* a comment\n   func inside() {\n*/\nfunc f() {\n}\n"
	tx, _ := readText(Request{Text: text}, IndexLines(text))
	tx.shape()
	want := []kind{isFileHead, isFileHead, isImport, isImport, isImport, isImport, isComment, isComment, isComment, isStructure, isClosing}
	for r, k := range want {
		if tx.kind[r]&k == 0 {
			t.Errorf("row %d %q has kind %b, want %b", r, tx.row(r), tx.kind[r], k)
		}
	}
	if tx.kind[7]&isStructure != 0 {
		t.Error("a header inside a comment is structural")
	}
}

func TestEnclosingHeadersStayWithAKeptLine(t *testing.T) {
	filler := func(name string) string {
		return "    def " + name + "(self):\n        value = self.other\n        value += 1\n        return value\n\n"
	}
	text := "import os\n\nclass First:\n" + filler("a") + filler("b") + filler("c") + "class Second:\n" + filler("d") +
		"    def wanted(self):\n        if self.ready:\n            launch_rocket(self.pad)\n\n" + filler("e") + filler("f")
	res := Plan(Request{Text: text, Goal: "launch_rocket pad", MaxPruneRatio: .85, Structure: Enclosing})
	for _, words := range []string{"launch_rocket", "def wanted", "class Second"} {
		if !keepsLine(t, text, res, words) {
			t.Errorf("%q is cut", words)
		}
	}
	if keepsLine(t, text, res, "def a(") {
		t.Error("a header that encloses nothing kept stays")
	}
}
