package pool

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// childVariable makes the test binary act as a server instead of running tests.
const childVariable = "FLEET_TEST_CHILD"

// playChild is a small MCP server over standard input and output.
func playChild(kind string) int {
	if kind == "sdk" {
		return playSDK()
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var msg struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &msg) != nil || msg.ID == nil {
			continue
		}
		switch msg.Method {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"child"}}}`+"\n", msg.ID)
		case "tools/list":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"pid","inputSchema":{}}]}}`+"\n", msg.ID)
		case "tools/call":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[],"place":%d}}`+"\n", msg.ID, os.Getpid())
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`+"\n", msg.ID)
		}
	}
	return 0
}
