package access

// Credentials are the raw credentials of a request.
type Credentials struct {
	Signature     string // X-Secateur-Signature
	Token         string // X-Secateur-Token
	Authorization string // Authorization
	Message       string // params.proxy.authToken
	Certificate   bool   // the connection has a verified client certificate
}

// Way is the kind of a credential.
type Way uint8

// The kinds of credential, in order of precedence.
const (
	WayNone        Way = iota
	WaySignature       // HMAC over the request
	WayToken           // token or JWT in X-Secateur-Token
	WayBearer          // token or JWT in Authorization
	WayMessage         // token or JWT in the message
	WayCertificate     // client certificate of the connection
)

// First returns the credential that decides, and its text. If it is invalid, the others do not
// count.
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

// Cause says in one word why a caller is refused. Clients see this word.
type Cause string

// The causes.
const (
	CauseMissing  Cause = "missing"  // no credential
	CauseInvalid  Cause = "invalid"  // invalid credential
	CauseExpired  Cause = "expired"  // expired credential
	CauseReplayed Cause = "replayed" // the nonce was used before
	CauseTooMany  Cause = "too_many" // the caller's nonce quota is full
)
