package toolindex

// Model is what the ranking depends on besides words.
type Model struct {
	K1, B                                  float32 // of BM25
	Name, Title, Server, First, Rest, Args float32 // how much a word of a field counts
	Synonym, Topic, Lead                   float32 // how much a word counts for another in the first step
	Meant                                  float32 // how much a synonym counts in the second
	Kinds                                  [4]float32
	Aside                                  float32 // how much a word counts that follows a preposition
	Weights                                [featureCount]float32
}

func (m *Model) saturated(sum float32) float32 { return sum * (m.K1 + 1) / (sum + m.K1) }

// shippedModel was fitted by test/eval/toolrank.
var shippedModel = Model{
	K1: 1.2, B: .75,
	Name: 3, Title: 2, Server: 1, First: 1.3, Rest: .8, Args: .15,
	Synonym: .8, Topic: .15, Lead: 1.1, Meant: .7,
	Kinds: [4]float32{plain: 1, placeholder: .5, quoted: .6, number: .3},
	Aside: .36,
	Weights: [featureCount]float32{
		byTotal: 6, byExact: 2, nameCovered: 1, nameMeant: 1, queryInName: 1, queryMeant: 1, serverCovered: .5, queryInFirst: 1,
		sameVerb: .5, otherVerb: -.3, byTopic: 1,
	},
}
