package prune

// A feature is one thing measured of a row, never negative. The models (model.go) weigh them.
type feature uint8

const (
	fLine     feature = iota // BM25 of the row against the goal
	fLineSoft                // the same with akin words
	fWin3                    // that spread over three neighbours on both sides
	fWin50                   // over fifty
	fBlock                   // BM25 of the block
	fBlockSoft
	fHead // BM25 of the block's first rows
	fHeadSoft
	fHybrid     // a fixed mix of the above
	fRank       // share of rows with a better mix
	fCover      // share of the goal's words, by rarity, in the row
	fCover20    // and twenty neighbours on both sides
	fCoverGroup // and in what the same header encloses
	fWholeGroup // and under the same header
	fPair       // neighbouring words of the goal that are neighbours in the row
	fGroupMean  // mean line score under the same header
	fGroupMax
	fGroupRows
	fOwnHead    // score of the nearest header
	fUpperHead  // best score of the headers above it
	fHeadMatch  // share of the nearest header's words that the goal names
	fUpperMatch // the best such share above it
	fHeadCover  // share of the goal that the nearest header names
	fChainCover // and that it names with those above it
	fBlockRank  // how many blocks have a better score
	fGroupRank  // how many headers
	fLineRank   // how many rows
	fWinRank    // how many rows with their neighbours
	fTreeRows   // rows under the nearest header, those of headers below it included
	fTreeCover  // share of the goal there
	fFeedback   // likeness to the best rows
	fRare       // mean rarity of the row's words
	fCaller     // score of the rows that name what the row is part of
	fPosition   // from 0 at the top to 1
	fTop        // row number, up to 200
	fEnd        // rows to the end, up to 200
	fIndent
	fDepth
	fLength
	fTerms
	fGapBefore // blank lines
	fGapAfter
	fInBlock // rows since the block began
	fBlockRows
	fSectionAt // rows since the last heading
	fGoalTerms // words of the goal that the text has
	fGoalOwn   // words of the goal beyond those about failure
	fAsksWhy
	fComment
	fStructure
	fImport
	fDirective
	fHeading
	fFenced
	fList  // begins like an item
	fProse // begins with a capital
	fError
	fWeak
	fErr2 // error words among neighbours
	fErr5
	fErr15
	fAnyErr
	fTrace
	fRed
	fRed5
	fCommand
	fExit
	fToExit // rows to the next row that ends a command
	fLevelLow
	fLevelHigh
	fTemplate  // how often the row's message comes, numbers aside
	fTemplate5 // the same over neighbours
	fFirstSeen // the message was not seen before
	fNumbers
	fLastErr    // rows to the last error
	fWhole      // identifiers of the goal in the row, by weight
	fWhole8     // and in eight neighbours on both sides
	fAssign     // gives something a value
	fCalls      // calls something
	fQuoted     // holds a string
	fNewNames   // identifiers that the text has not used before
	fHeadNear   // rows since the nearest header
	fInComment  // rows of comments among ten neighbours
	fToBlockEnd // rows to the end of the block
	fControl    // begins with a word that branches or loops
	fReturn     // begins with a word that leaves
	fSimilar    // neighbours that begin alike
	fNamed      // weight of the goal's names that the headers around define
	fTests      // share of the text's rows that assert something
	fMatched    // share of the row's words that the goal names
	fAboveSoft  // best score of the three rows before
	fBelowSoft  // best score of the three rows after
	numFeatures
)

type vector [numFeatures]float32

func flag(b bool) float32 {
	if b {
		return 1
	}
	return 0
}
