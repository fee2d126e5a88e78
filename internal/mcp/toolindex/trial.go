package toolindex

// Measured is a candidate of a query with what the model judges it by.
type Measured struct {
	Item     int
	IsNamed  bool // found by its name: the model is not asked
	Features []float32
}

// Measure returns a query's candidates, for those who train and evaluate models.
func (x *Index) Measure(query string) []Measured {
	q := x.read(query)
	found := x.candidates(q, x.names.find(query))
	out := make([]Measured, len(found))
	for i, f := range x.measure(q, found) {
		out[i] = Measured{Item: int(found[i].doc), IsNamed: found[i].tier > 0, Features: f[:]}
	}
	return out
}

// Stems are the stems of a text's words, each once, stop words left out.
func Stems(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words(text) {
		if s := stem(w.text); !stopWords[w.text] && w.kind != number && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// ShippedModel returns the model of the program.
func ShippedModel() Model { return shippedModel }

// ShippedTables returns the tables of the program: synonyms and subjects, and what was learned.
func ShippedTables() (table, learned string) { return lexiconText, learnedText }

// FeatureNames returns the names of the model's weights, in order.
func FeatureNames() []string {
	return []string{
		"byTotal", "byExact", "byTotalSize", "nameCovered", "nameMeant", "queryInName", "queryMeant", "serverCovered", "queryInFirst",
		"queryInAll", "queryInArgs", "byPairs", "sameVerb", "otherVerb", "verbNamed", "firstInName", "byTopic", "byLetters", "byShortness", "rarestFound",
	}
}
