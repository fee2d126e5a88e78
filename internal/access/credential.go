package access

// Credentials are what a request shows of who sent it, as they came.
type Credentials struct {
	Signature     string // X-Secateur-Signature
	Token         string // X-Secateur-Token
	Authorization string // Authorization
	Message       string // params.proxy.authToken
	Certificate   bool   // the connection has a verified one
}

// Way is how a caller says who they are.
type Way uint8

// The ways, in the order in which they decide.
const (
	WayNone        Way = iota
	WaySignature       // HMAC over the request
	WayToken           // token or JWT in a header of ours
	WayBearer          // token or JWT in Authorization
	WayMessage         // token or JWT in the message
	WayCertificate     // of the connection
)

// First is the credential that decides, and its text. A bad one is not made good by the next.
func (c Credentials) First() (Way, string) {
	switch {
	case c.Signature != "":
		return WaySignature, c.Signature
	case c.Token != "":
		return WayToken, c.Token
	case bearer(c.Authorization) != "":
		return WayBearer, bearer(c.Authorization)
	case c.Message != "":
		return WayMessage, c.Message
	case c.Certificate:
		return WayCertificate, ""
	default:
		return WayNone, ""
	}
}

// Cause is why a caller is not let in, in the word that clients are told.
type Cause string

// The causes.
const (
	CauseMissing  Cause = "missing"  // nothing was shown
	CauseInvalid  Cause = "invalid"  // what was shown is not good
	CauseExpired  Cause = "expired"  // it was
	CauseReplayed Cause = "replayed" // it has been used
	CauseTooMany  Cause = "too_many" // it cannot be remembered: this caller has used too many
)
