package prune

// A feature is one measurement of a row, never negative. The models (model.go) weigh them.
type feature uint8

const (
	fLine     feature = iota // BM25 of the row against the goal
	fLineSoft                // the same with related words
	fWin3                    // that, averaged over three neighbours on both sides
	fWin50                   // over fifty
	fBlock                   // BM25 of the block
	fBlockSoft
	fHead // BM25 of the block's first rows
	fHeadSoft
	fHybrid     // a fixed mix of the above
	fRank       // share of rows with a better mix
	fCover      // share of the goal's words, by rarity, in the row
	fCover20    // and in twenty neighbours on both sides
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
	fBlockRank  // number of blocks with a better score
	fGroupRank  // number of headers
	fLineRank   // number of rows
	fWinRank    // number of rows with their neighbours
	fTreeRows   // rows under the nearest header, including those of headers below it
	fTreeCover  // share of the goal there
	fFeedback   // similarity to the best rows
	fRare       // mean rarity of the row's words
	fCaller     // score of the rows that name what the row belongs to
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
	fGoalOwn   // words of the goal other than those about failure
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
	fTemplate  // frequency of the row's message, ignoring numbers
	fTemplate5 // the same over neighbours
	fFirstSeen // the message is new
	fNumbers
	fLastErr    // rows to the last error
	fWhole      // identifiers of the goal in the row, by weight
	fWhole8     // and in eight neighbours on both sides
	fAssign     // assigns a value
	fCalls      // calls something
	fQuoted     // has a string
	fNewNames   // identifiers that are new in the text
	fHeadNear   // rows since the nearest header
	fInComment  // rows of comments among ten neighbours
	fToBlockEnd // rows to the end of the block
	fControl    // begins with a branching or looping keyword
	fReturn     // begins with a keyword that leaves
	fSimilar    // neighbours with the same beginning
	fNamed      // weight of the goal's names that the headers around define
	fTests      // share of the text's rows with assertions
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
