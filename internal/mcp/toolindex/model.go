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
	Synonym: .6, Topic: .2, Lead: .7, Meant: .7,
	Kinds: [4]float32{plain: 1, placeholder: .5, quoted: .6, number: .3},
	Aside: .5,
	Weights: [featureCount]float32{
		byTotal:       4.26,
		byExact:       -0.73,
		byTotalSize:   2.53,
		nameCovered:   -1.24,
		nameMeant:     1.94,
		queryInName:   0.85,
		queryMeant:    1.37,
		serverCovered: 1.21,
		queryInFirst:  1.16,
		queryInAll:    0.99,
		queryInArgs:   0.36,
		byPairs:       1.55,
		sameVerb:      1.15,
		otherVerb:     -1.32,
		verbNamed:     -0.89,
		firstInName:   -0.45,
		byTopic:       0.58,
		byLetters:     1.54,
		byShortness:   -0.06,
		rarestFound:   -0.11,
	},
}
