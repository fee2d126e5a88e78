// Package excerpt shortens the result of one tool call towards a number of characters. It keeps the parts that the goal of the call
// names, and the parts that say what the rest of the text does not say.
//
// [Cut] is all of it. A JSON document loses records, columns and members and stays JSON of the same shape (json.go, decide.go,
// write.go). Programs, logs, diffs and search hits lose the lines that package prune gives up for the goal (engine.go). Any other text
// loses lines, or parts of long lines (units.go, pieces.go). How much a part says is the sum of its words, each weighed by how rare it
// is in the text (words.go, rarity.go); how near it is to the goal is in goal.go.
//
// A marker stands for each cut (marker.go). Everything here is a pure function of its arguments.
package excerpt
