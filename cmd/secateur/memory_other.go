//go:build !linux

package main

func guardMemory() {}
