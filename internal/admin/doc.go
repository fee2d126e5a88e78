// Package admin answers those who run the program: is it alive, is it ready, and how do its servers fare. What it
// shows it is handed as functions.
package admin
