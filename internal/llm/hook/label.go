package hook

import "strings"

// ToolLabel is what metrics and pages call a tool: our own table's names, and one for all tools of MCP servers, which are many.
func ToolLabel(tool string) string {
	if _, known := texts[tool]; known || lists[tool] != "" || tool == "Read" {
		return tool
	}
	if strings.HasPrefix(tool, mcpPrefix) {
		return "mcp"
	}
	return "other"
}
