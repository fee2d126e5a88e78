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
		byTotal:       5.42,
		byExact:       0.58,
		byTotalSize:   0.24,
		nameCovered:   0.53,
		nameMeant:     1.14,
		queryInName:   0.8,
		queryMeant:    1.08,
		serverCovered: 0.86,
		queryInFirst:  1.07,
		queryInAll:    0.09,
		queryInArgs:   0.03,
		byPairs:       0.93,
		sameVerb:      1.12,
		otherVerb:     -0.91,
		verbNamed:     -0.62,
		firstInName:   -0.29,
		byTopic:       0.57,
		byLetters:     0.29,
		byShortness:   -0.12,
		rarestFound:   -0.32,
	},
}
