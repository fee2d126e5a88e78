package config

import (
	"strings"

	"secateur/internal/mcp/confine"
)

// keyInfo documents a key for people and editors.
type keyInfo struct {
	doc   string
	enum  []string
	least *float64 // nil: none
	most  *float64
	above *float64 // the value must be more than this

	// absent is the default where the zero value stands for another one: a value, or "" where it depends.
	absent any
}

// keys documents every key by its pattern: [] is any item of a list, * any name in a table. A test
// checks that the table matches the Settings.
var keys = map[string]keyInfo{
	"listen":                {doc: "Address of the HTTP doors, host:port. One that other machines reach needs auth_token."},
	"allowed_hosts":         {doc: "Further host names under which the HTTP doors may be reached, for a reverse proxy."},
	"allowed_origins":       {doc: "Origins of web pages that may call, such as https://app.example."},
	"advertise":             {doc: "host:port at which other replicas reach this one, to hand over calls that wait here. Empty: the listener's own; for one on all interfaces that towards the store."},
	"log_level":             {doc: "DEBUG, INFO, WARN or ERROR.", enum: []string{"DEBUG", "INFO", "WARN", "WARNING", "ERROR", "CRITICAL", "debug", "info", "warn", "warning", "error", "critical"}},
	"structured_logging":    {doc: "Writes the log as one JSON object a line."},
	"auth_token":            {doc: "The token that clients must show. Empty: none is asked on loopback."},
	"rate_limit_per_minute": {doc: "Calls a minute and principal. 0: no limit.", least: new(0.0)},
	"healthcheck_interval":  {doc: "Seconds between two heartbeats of a server. 0: off.", least: new(0.0)},
	"healthcheck_timeout":   {doc: "Seconds after which a heartbeat is missed.", above: new(0.0)},
	"response_timeout":      {doc: "Seconds a server has for an answer. Progress renews it; it rests while the server waits for the client.", above: new(0.0)},
	"page_size":             {doc: "Entries in one page of a list.", least: new(1.0)},
	"first_list_wait":       {doc: "Seconds from a connection's start that its first list waits for servers that are still starting. With 8, clients that list once wait for startup_timeout; any other number holds for all.", least: new(0.0)},
	"drain_delay":           {doc: "Seconds from SIGTERM until the listener closes, in which /readyz says 503 already: long enough for a load balancer to see it.", least: new(0.0)},
	"session_idle_timeout":  {doc: "Seconds after which a session without requests and streams ends, for clients that leave without a word.", above: new(0.0)},
	"max_message_bytes":     {doc: "A larger MCP message fails that call alone.", least: new(1024.0)},
	"max_body_bytes":        {doc: "A larger chat request is refused.", least: new(1024.0)},
	"max_in_flight_bytes":   {doc: "Bytes that all requests under way may hold at once, bodies and answers; beyond it they get 503. 0: an eighth of the memory that this process has.", least: new(0.0)},
	"default_provider":      {doc: "Which of providers gets a model that no alias and no prefix names."},

	"naming":                      {doc: "How the aggregate calls the tools and prompts of its servers."},
	"naming.separator":            {doc: "Stands between a server's id and the name."},
	"naming.clients":              {doc: "By a pattern of clientInfo.name, before the built-in profiles of the well-known clients."},
	"naming.clients.*":            {doc: "How names look to these clients."},
	"naming.clients.*.separator":  {doc: "Stands between a server's id and the name. Empty: the general one."},
	"naming.clients.*.max_length": {doc: "Longer names are cut with a stable hash. 0: any length.", least: new(0.0)},

	"tools":                  {doc: "Whether MCP clients list tools or find them."},
	"tools.mode":             {doc: "list: tools/list has every definition. search: it has find_tools, describe_tools and call_tool, and the tools are found. Claude Code, Codex and VS Code search by themselves and get the list.", enum: []string{"list", "search"}},
	"tools.threshold_tokens": {doc: "With search: only where the definitions take more tokens. 0: always.", least: new(0.0)},
	"tools.clients":          {doc: "By a pattern of clientInfo.name, before the built-in profiles of the well-known clients."},
	"tools.clients.*":        {doc: "How these clients learn of tools."},
	"tools.clients.*.mode":   {doc: "list or search. Empty: the general one.", enum: []string{"list", "search"}},
	"tools.clients.*.pinned": {doc: "With search: patterns of tools that are listed all the same, such as files::read_*."},
	"tools.clients.*.hidden": {doc: "With list: patterns of tools that are found instead of listed, such as github::*."},
	"tools.clients.*.split":  {doc: "call_tool_read and call_tool_write in the place of call_tool, for clients that ask their user by tool."},

	"servers":                       {doc: "The MCP servers to call."},
	"servers[]":                     {doc: "One server: a command, a url or a builtin."},
	"servers[].id":                  {doc: "Letters, digits, - and _."},
	"servers[].command":             {doc: "Program and arguments of a child process. ~ is the home directory."},
	"servers[].env":                 {doc: "Variables of the child, beside a base: PATH, HOME, LANG, TMPDIR, display, XDG, ssh agent, Docker, proxy and CA variables."},
	"servers[].pass_env":            {doc: "Patterns of further variables that the child gets from our environment, such as KUBECONFIG or AWS_*."},
	"servers[].cwd":                 {doc: "Working directory of the child. Empty: ours. ~ is the home directory."},
	"servers[].sandbox":             {doc: "What the child may touch, enforced by Linux: a profile or a table. package: its own working directory and home, the network. files: also the paths that its arguments name. offline: as files, without a network. off: everything.", enum: confine.Profiles},
	"servers[].sandbox.profile":     {doc: "Begins with what this profile allows. Empty: only what the other keys name, and system directories.", enum: confine.Profiles},
	"servers[].sandbox.read":        {doc: "Paths that it may read, from its working directory on. ~ is your home directory."},
	"servers[].sandbox.write":       {doc: "Paths that it may read and write."},
	"servers[].sandbox.net":         {doc: "any, none, or TCP ports that it may connect to. Left out: as the profile says, else none.", enum: []string{confine.NetAny, confine.NetNone}},
	"servers[].sandbox.sockets":     {doc: "It may use Unix sockets: ssh agent, D-Bus, Docker. They lead out of the sandbox."},
	"servers[].sandbox.processes":   {doc: "Processes and threads that it may add to those of the machine. 0: 1024. Linux does not limit root.", least: new(0.0), absent: confine.DefaultProcesses},
	"servers[].sandbox.files":       {doc: "Open files of one process. 0: 8192.", least: new(0.0), absent: confine.DefaultFiles},
	"servers[].sandbox.memory_mb":   {doc: "Address space of one process in MiB. 0: no limit. Node needs much more than it uses.", least: new(0.0)},
	"servers[].sandbox_required":    {doc: "Starts the server only if the system can enforce its whole sandbox."},
	"servers[].disabled":            {doc: "Keeps the entry, but never starts or calls the server."},
	"servers[].held":                {doc: "Not started until secateur approve ID. import writes it; a change of the command holds the server again."},
	"servers[].startup_timeout":     {doc: "Seconds from start to the end of the handshake. 0: 20.", least: new(0.0)},
	"servers[].shutdown_grace":      {doc: "Seconds between the steps of stopping a child. 0: 3.", least: new(0.0)},
	"servers[].response_timeout":    {doc: "Seconds this server has for an answer. 0: the general one.", least: new(0.0)},
	"servers[].protocol":            {doc: "Era of the protocol.", enum: []string{"auto", "legacy", "modern"}},
	"servers[].isolation":           {doc: "One child for all, or one for each client session.", enum: []string{"shared", "per-session"}},
	"servers[].framing":             {doc: "How a child's messages are framed: one a line, or with Content-Length headers.", enum: []string{"line", "content-length"}},
	"servers[].mask":                {doc: "Enables cutting of this server's results."},
	"servers[].mask_exempt":         {doc: "Patterns of tools whose results are never cut, such as read_*."},
	"servers[].focus":               {doc: "Gives this server's tools the optional argument secateur_focus, by which a model says what it looks for in a result. The server never sees it."},
	"servers[].tools":               {doc: "Patterns of the tools that clients may have, such as read_*. Empty: all. Others are neither listed nor called."},
	"servers[].exclude_tools":       {doc: "Patterns of tools that are neither listed nor called."},
	"servers[].url":                 {doc: "Address of a server reached over HTTP, instead of command."},
	"servers[].transport":           {doc: "With url: Streamable HTTP, HTTP+SSE, or plain POST {url}/rpc.", enum: []string{"http", "sse", "rpc"}},
	"servers[].headers":             {doc: "Sent with every HTTP request to url."},
	"servers[].oauth":               {doc: "How to get a token for url. Left out: by secateur login, once the server asks for one."},
	"servers[].oauth.flow":          {doc: "client_credentials, or login: a person signs in.", enum: []string{"client_credentials", "login"}},
	"servers[].oauth.token_url":     {doc: "Where tokens are asked for. Empty: discovered (RFC 9728, 8414)."},
	"servers[].oauth.client_id":     {doc: "This client's id there, or the address of its metadata document. Empty: the client registers itself (RFC 7591)."},
	"servers[].oauth.client_secret": {doc: "Its secret; write ${VARIABLE}."},
	"servers[].oauth.scope":         {doc: "Scopes to ask for, with spaces between them. Empty: what the server names."},
	"servers[].builtin":             {doc: "A server inside this program, instead of command.", enum: builtins},

	"observation_masking":                      {doc: "What is cut out of tool results, door by door. Every original can be restored."},
	"observation_masking.gateway":              {doc: "Raw JSON-RPC to one server: every string of a result."},
	"observation_masking.gateway.max_chars":    {doc: "Longer strings are cut to head and tail.", least: new(1.0)},
	"observation_masking.gateway.head_chars":   {doc: "Characters kept of the beginning. Head and tail together may not exceed max_chars.", least: new(0.0)},
	"observation_masking.gateway.tail_chars":   {doc: "Characters kept of the end.", least: new(0.0)},
	"observation_masking.gateway.marker":       {doc: "Stands where the cut was made. {orig}, {head}, {tail} and {id} are filled in."},
	"observation_masking.gateway.exempt_media": {doc: "Never cuts images, audio and other base64 data."},
	"observation_masking.mcp":                  {doc: "The aggregate: texts of tool results; media never."},
	"observation_masking.mcp.enabled":          {doc: "Enables cutting of long texts in tool results."},
	"observation_masking.mcp.mode":             {doc: "What stays of a long text. goal: what its call asked for, and what the text says only once. head_tail: its beginning and its end; meant where head_chars or tail_chars is written without mode.", enum: []string{"goal", "head_tail"}},
	"observation_masking.mcp.target_chars":     {doc: "Mode goal: characters that a long text is pruned towards. Of longer texts more is kept.", least: new(1.0)},
	"observation_masking.mcp.structured":       {doc: "What is cut in structuredContent. repeats: strings that say again what was cut in a text; for clients whose models read structuredContent alone, long strings and elements of arrays. The tool's outputSchema is obeyed. none: nothing; such clients then get everything whole.", enum: []string{"repeats", "none"}},
	"observation_masking.mcp.max_chars":        {doc: "Texts of a result that are longer together are cut. Mode head_tail without a value: 20000.", least: new(1.0)},
	"observation_masking.mcp.head_chars":       {doc: "Mode head_tail: characters kept of the beginning. Head and tail together may not exceed max_chars.", least: new(0.0)},
	"observation_masking.mcp.tail_chars":       {doc: "Mode head_tail: characters kept of the end.", least: new(0.0)},
	"observation_masking.mcp.marker":           {doc: "Mode head_tail: stands where the cut was made. {orig}, {head}, {tail}, {end}, {id} and {tool} are filled in; {tool} is the client's name of recover_chars."},
	"observation_masking.mcp.exempt_media":     {doc: "Never cuts images, audio and other base64 data."},

	"observation_masking.schema1":                      {doc: "Old tool results in conversations on their way to a model. Written without strategy: the sliding window; not written: priced."},
	"observation_masking.schema1.enabled":              {doc: "Enables masking of old tool results."},
	"observation_masking.schema1.window_turns":         {doc: "Newest tool turns left whole. 0 or less: nothing is masked."},
	"observation_masking.schema1.keep_errors":          {doc: "Results that are errors are left whole."},
	"observation_masking.schema1.keep_last_k_per_tool": {doc: "Newest results of each tool left whole. 0: off.", least: new(0.0)},
	"observation_masking.schema1.min_chars":            {doc: "Shorter results are left whole.", least: new(0.0)},
	"observation_masking.schema1.placeholder_template": {doc: "Stands in place of a result. {tool_call_id}, {tool_name} and {original_chars} are filled in."},
	"observation_masking.schema1.strategy":             {doc: "sliding masks whatever left the window; stepped only every step_turns; priced only where it lowers the bill.", enum: []string{"sliding", "stepped", "priced"}},
	"observation_masking.schema1.step_turns":           {doc: "Strategy stepped: tool turns between two moves of the boundary.", least: new(1.0)},
	"observation_masking.schema1.max_loss":             {doc: "Strategy priced: how far a conversation's bill may rise above passing through; 0.05 is five percent.", least: new(0.0), most: new(10.0)},
	"observation_masking.schema1.long_max_loss":        {doc: "Strategy priced: the same for conversations of 50 tool turns and more, where max_loss is less.", least: new(0.0), most: new(10.0)},
	"observation_masking.schema1.recover":              {doc: "hint: the placeholder also carries the id and how to get the result back. Left out: hint with strategy priced, else none.", enum: []string{"none", "hint"}, absent: ""},

	"context_pruning":                 {doc: "Big tool results pruned once, when they first pass on their way to a model."},
	"context_pruning.enabled":         {doc: "Enables pruning of big results."},
	"context_pruning.min_chars":       {doc: "Shorter results pass whole.", least: new(1.0)},
	"context_pruning.target_chars":    {doc: "Least length that a big result is pruned towards, in characters; a share of a long one is more.", least: new(1.0)},
	"context_pruning.max_prune_ratio": {doc: "Largest share of the lines that may be cut.", least: new(0.0), most: new(1.0)},
	"context_pruning.min_keep_lines":  {doc: "Smallest number of lines that stay.", least: new(0.0)},
	"context_pruning.arguments":       {doc: "on: strings of 1000 characters and more in the model's own calls are cut when they are first sent back.", enum: []string{"off", "on"}},
	"context_pruning.repeats":         {doc: "Lines that an earlier result of the same request shows are replaced by a reference to them."},

	"proof":         {doc: "Savings that others count."},
	"proof.count":   {doc: "Has the provider's free counter count unchanged requests, beside a sample of those that are sent cut. It delays no request."},
	"proof.sample":  {doc: "Share of the requests with cuts that are counted.", least: new(0.0), most: new(1.0)},
	"proof.holdout": {doc: "Share of the conversations that pass untouched. Savings then compares them with the others.", least: new(0.0), most: new(1.0)},

	"hooks":              {doc: "Results of an agent's own tools, pruned by its hook: secateur connect claude-code --hook."},
	"hooks.tools":        {doc: "Patterns of tool names, such as mcp__*. Tools that change files or plans are never pruned."},
	"hooks.exempt":       {doc: "Patterns of tools whose results are left whole."},
	"hooks.min_chars":    {doc: "Shorter results are left whole.", least: new(1.0)},
	"hooks.target_chars": {doc: "Least length that a big result is pruned towards, in characters; a share of a long one is more.", least: new(1.0)},

	"mcp_pruner":                        {doc: "The pruner. Environment variables beat this section: MCP_PRUNER_*, KIMI_PRUNING_BACKEND, DEEPINFRA_*, SECATEUR_RERANK_*."},
	"mcp_pruner.enabled":                {doc: "Offer it as server `pruner` and at /rpc."},
	"mcp_pruner.tools":                  {doc: "What MCP clients list. recover: the tools that give back what was cut. all: prune_text and health, too. At /rpc and in `secateur pruner` all are listed.", enum: []string{"recover", "all"}},
	"mcp_pruner.host":                   {doc: "Where `secateur pruner` listens."},
	"mcp_pruner.port":                   {doc: "Where `secateur pruner` listens. 0: any free port.", least: new(0.0), most: new(65535.0)},
	"mcp_pruner.backend":                {doc: "heuristic is local. deepinfra (or cloud) and rerank send lines of the text to a service; their keys come from the environment.", enum: []string{"heuristic", "deepinfra", "cloud", "rerank"}},
	"mcp_pruner.structure":              {doc: "Which structural lines are forced to stay: all, or those that enclose a kept line.", enum: []string{"all", "enclosing"}},
	"mcp_pruner.prune_id_ttl_s":         {doc: "Seconds an original is kept by `secateur pruner` alone; elsewhere store.ttl_s counts.", above: new(0.0)},
	"mcp_pruner.max_input_chars":        {doc: "A longer text passes whole.", least: new(1.0)},
	"mcp_pruner.cache_ttl_s":            {doc: "Seconds a reranker's scores are kept. 0: not at all.", least: new(0.0)},
	"mcp_pruner.cache_max_entries":      {doc: "Reranker answers kept at most. 0: none.", least: new(0.0)},
	"mcp_pruner.deepinfra_timeout_ms":   {doc: "Milliseconds a reranker has.", above: new(0.0)},
	"mcp_pruner.deepinfra_max_docs":     {doc: "Documents sent to a reranker at most.", least: new(1.0)},
	"mcp_pruner.rerank_url":             {doc: "Backend rerank: where to POST query and documents."},
	"mcp_pruner.rerank_model":           {doc: "Backend rerank: the model to ask for."},
	"mcp_pruner.usd_per_million_tokens": {doc: "For cost_estimated_usd in the pruner's answers.", least: new(0.0)},

	"store":                {doc: "Where originals are kept, so that every cut can be undone."},
	"store.url":            {doc: "memory:, file:DIR, or redis://HOST for several replicas. Empty: `serve` keeps it in the user's state directory, others in memory."},
	"store.max_bytes":      {doc: "Most bytes that all originals may take; in Redis those of each tenant. Of several tenants none gets all. On disk and in Redis the forms in which results were sent have as much room beside them, 256 MiB at the least.", least: new(1.0)},
	"store.when_full":      {doc: "What happens when that is used up: refuse means that nothing more is cut, oldest that the originals go that were not used for longest.", enum: []string{"refuse", "oldest"}},
	"store.ttl_s":          {doc: "Seconds an original is kept after its last use.", above: new(0.0)},
	"store.sent_ttl_s":     {doc: "Seconds that what was sent to a provider is remembered after its last use, so that it goes out in the same form again.", above: new(0.0)},
	"store.put_timeout_ms": {doc: "Milliseconds for each started MiB of a text. A slower store means that nothing is cut. 0: wait.", least: new(0.0)},

	"auth":                       {doc: "Who may call. With any credential configured, every door asks for one."},
	"auth.public_url":            {doc: "How clients reach us, such as https://tools.example. Empty: scheme and listen."},
	"auth.token_file":            {doc: "What `secateur token` keeps. Empty: tokens.json in the state directory."},
	"auth.default":               {doc: "What happens where no [[acl]] rule matches.", enum: []string{"allow", "deny"}},
	"auth.explain":               {doc: "Roles whose refusals name the rule. Others are told that there is no such thing."},
	"auth.audit":                 {doc: "Where decisions are written: off, log or file:PATH."},
	"auth.private_networks":      {doc: "Networks that addresses named by a peer may reach, beside public ones and the configured host and port itself."},
	"auth.tokens":                {doc: "Static tokens, by their hash."},
	"auth.tokens[]":              {doc: "One token."},
	"auth.tokens[].name":         {doc: "Its holder's subject."},
	"auth.tokens[].hash":         {doc: "sha256: and 64 hexadecimal digits, of the token."},
	"auth.tokens[].tenant":       {doc: "Whose originals and records its holder sees. Empty: default."},
	"auth.tokens[].roles":        {doc: "What rules may ask for; admin opens the control plane and /metrics."},
	"auth.tokens[].expires":      {doc: "RFC 3339. Left out: never."},
	"auth.jwt":                   {doc: "Tokens of an identity provider (OAuth 2.0 resource server)."},
	"auth.jwt.issuer":            {doc: "https, or http on loopback; its keys are found by /.well-known/openid-configuration."},
	"auth.jwt.audience":          {doc: "Accepted aud. Empty: public_url and public_url/mcp."},
	"auth.jwt.algorithms":        {doc: "No other is accepted. Empty: RS256 and ES256."},
	"auth.jwt.tenant_claim":      {doc: "Where the tenant stands. Empty: tenant default. Named, but missing in a token: it is refused."},
	"auth.jwt.roles_claim":       {doc: "Where the roles stand, a list or words; a dotted path reaches in. Empty: roles."},
	"auth.jwt.leeway_s":          {doc: "Seconds that clocks may differ. 0: 60.", least: new(0.0), absent: 60},
	"auth.hmac":                  {doc: "Keys for signed requests."},
	"auth.hmac[]":                {doc: "One key."},
	"auth.hmac[].key_id":         {doc: "What the header X-Secateur-Key says, and the holder's subject."},
	"auth.hmac[].secret":         {doc: "32 characters or more."},
	"auth.hmac[].tenant":         {doc: "As with tokens."},
	"auth.hmac[].roles":          {doc: "As with tokens."},
	"auth.certificates":          {doc: "Whom client certificates name. No row, no principal."},
	"auth.certificates[]":        {doc: "Certificates of one kind."},
	"auth.certificates[].san":    {doc: "Patterns of a URI, DNS or e-mail name; the one that matches is the subject."},
	"auth.certificates[].tenant": {doc: "As with tokens."},
	"auth.certificates[].roles":  {doc: "As with tokens."},

	"tls":             {doc: "Serve nothing but TLS, 1.2 or newer. Files are read again when they change."},
	"tls.cert":        {doc: "Our certificate chain, PEM."},
	"tls.key":         {doc: "Its key, PEM."},
	"tls.client_ca":   {doc: "Certificate authorities of client certificates, PEM."},
	"tls.client_crl":  {doc: "Revocation list of client_ca, PEM."},
	"tls.client_auth": {doc: "A client certificate is one way among others, or required. Empty: optional.", enum: []string{"optional", "required"}},

	"acl":            {doc: "Rules about who may have what. In order: the first allow or deny that matches decides, the redacts met before it apply."},
	"acl[]":          {doc: "One rule. A key left out matches anything; a pattern may stand where a list of them may."},
	"acl[].name":     {doc: "For explain, audit and metrics. Empty: acl- and its number."},
	"acl[].tenant":   {doc: "The caller's tenant."},
	"acl[].role":     {doc: "Any of the caller's roles."},
	"acl[].subject":  {doc: "The caller's subject."},
	"acl[].door":     {doc: "gateway, mcp, chat, pruner or admin."},
	"acl[].server":   {doc: "The server's id. Never matches where there is none."},
	"acl[].tool":     {doc: "The server's own name of a tool. With this or one of the next four the rule is about things of these kinds only."},
	"acl[].prompt":   {doc: "The server's own name of a prompt."},
	"acl[].resource": {doc: "Beginning of a normalised URI. With such a rule, a URI that climbs or hides a dot or slash is denied."},
	"acl[].model":    {doc: "The name asked for, or the provider/model it resolves to."},
	"acl[].route":    {doc: "Paths below /v1 that pass untouched, and the control plane's."},
	"acl[].action":   {doc: "redact replaces with [redacted], and grants nothing.", enum: []string{"allow", "deny", "redact"}},
	"acl[].fields":   {doc: "redact: values of members of these names, at any depth."},
	"acl[].patterns": {doc: "redact: RE2, inside any string."},
	"acl[].in":       {doc: "redact: arguments, results. Empty: both."},

	"telemetry":               {doc: "Where traces go. Metrics are at /metrics, without a setting."},
	"telemetry.otlp_endpoint": {doc: "Address of an OpenTelemetry collector: traces are posted to {otlp_endpoint}/v1/traces, as protobuf. Empty: no traces."},
	"telemetry.otlp_headers":  {doc: "Sent with them."},
	"telemetry.service_name":  {doc: "What this program is called in the traces."},
	"telemetry.sample":        {doc: "Part of the requests that are traced, where the client has not decided.", least: new(0.0), most: new(1.0)},

	"limits":                  {doc: "How often. Every one that matches a call counts."},
	"limits[]":                {doc: "One limit. A key left out matches anything."},
	"limits[].name":           {doc: "For answers, audit and metrics. Empty: limit- and its number."},
	"limits[].tenant":         {doc: "The caller's tenant."},
	"limits[].role":           {doc: "Any of the caller's roles."},
	"limits[].subject":        {doc: "The caller's subject."},
	"limits[].door":           {doc: "gateway, mcp, chat, pruner or admin."},
	"limits[].server":         {doc: "The server's id."},
	"limits[].tool":           {doc: "The server's own name of a tool."},
	"limits[].model":          {doc: "The name asked for, or the provider/model it resolves to."},
	"limits[].by":             {doc: "What has a bucket of its own: tenant, principal, server, tool, model. Empty: one for all."},
	"limits[].rate":           {doc: "Calls per s, m, h or d, such as 60/m."},
	"limits[].burst":          {doc: "Calls at once after a pause. 0: the rate's number.", least: new(0.0)},
	"limits[].concurrent":     {doc: "Calls at a time. 0: any number.", least: new(0.0)},
	"limits[].queue":          {doc: "How many more wait.", least: new(0.0)},
	"limits[].queue_wait_s":   {doc: "Seconds they wait at most. 0: 10.", least: new(0.0)},
	"limits[].tokens_per_day": {doc: "Tokens of models in a UTC day, refused once the sum has reached it. Counted by this process alone.", least: new(0.0)},
	"limits[].usd_per_day":    {doc: "Dollars in a UTC day, by the prices of the model, output included.", least: new(0.0)},
	"limits[].shared":         {doc: "Exact across replicas: rates, calls at a time and sums of a day; needs a store in Redis."},
	"limits[].without_store":  {doc: "With shared: the part of the rate, and of the calls at a time, that holds while the store is away.", least: new(0.0), most: new(1.0)},

	"providers":                       {doc: "Model providers, by name."},
	"providers.*":                     {doc: "One provider."},
	"providers.*.format":              {doc: "What it speaks: chat completions, Anthropic Messages or OpenAI Responses (and then chat completions, too). Left out: by its name and its address, else chat.", enum: []string{"chat", "messages", "responses"}},
	"providers.*.base_url":            {doc: "Its address, up to and without /chat/completions, /messages or /responses."},
	"providers.*.api_key":             {doc: "Sent as Authorization, to a provider of the format messages as x-api-key. Empty: the client's own credentials are passed on."},
	"providers.*.websocket":           {doc: "A client of Responses that asks for WebSocket where results are cut: refuse tells it at once to speak HTTP; pass lets it through, and then nothing of what it says there is read, cut or booked. Left out: refuse.", enum: []string{"refuse", "pass"}},
	"providers.*.oauth":               {doc: "Client credentials in the place of api_key: the token is cached, and renewed before it ends."},
	"providers.*.oauth.flow":          {doc: "client_credentials; there is no other for a provider."},
	"providers.*.oauth.token_url":     {doc: "Where tokens are asked for. Empty: discovered."},
	"providers.*.oauth.client_id":     {doc: "This client's id there."},
	"providers.*.oauth.client_secret": {doc: "Its secret; write ${VARIABLE}."},
	"providers.*.oauth.scope":         {doc: "Scopes to ask for, with spaces between them."},
	"providers.*.prices":              {doc: "Dollars per million tokens."},
	"models":                          {doc: "Names that clients may ask for."},
	"models.*":                        {doc: "One name."},
	"models.*.provider":               {doc: "Which of providers answers."},
	"models.*.model":                  {doc: "What the provider calls it. Empty: the same."},
	"models.*.prices":                 {doc: "Dollars per million tokens. Left out: the provider's."},
	"prices.input":                    {doc: "Input tokens.", least: new(0.0)},
	"prices.cached_input":             {doc: "Input tokens read from the cache. Left out: as input.", least: new(0.0)},
	"prices.cache_write":              {doc: "Input tokens written to the cache. Left out: as input.", least: new(0.0)},
	"prices.output":                   {doc: "Output tokens.", least: new(0.0)},
	"prices.cache_ttl_s":              {doc: "Seconds the provider's cache lives unused. A longer life that answers show counts instead.", least: new(0.0)},

	"pins":      {doc: "What is done when something that a server tells is not what was first seen: tools, prompts, resources, instructions."},
	"pins.mode": {doc: "off; report: changes are logged and listed by secateur pins; strict: what is new or has changed is held back until secateur pins approve.", enum: []string{"off", "report", "strict"}},

	"notifications":                     {doc: "Whom goes to what servers send of their own accord."},
	"notifications.routes":              {doc: "A table; the first row that matches decides. Without one, requests, progress and log messages go to the session whose call is under way, and news of lists and resources to those who asked."},
	"notifications.routes[]":            {doc: "One row. A key left out matches anything; a pattern may stand where a list of them may."},
	"notifications.routes[].server":     {doc: "The server's id."},
	"notifications.routes[].method":     {doc: "Notifications such as notifications/message, and requests: roots/list, sampling/createMessage, elicitation/create."},
	"notifications.routes[].to":         {doc: "cause: the session whose call is under way. asked: those who set a log level, subscribed or listen. all: every session. principals: those of the named ones. drop: nobody; a request is refused at once. A request goes to the first that can answer. Progress and list_changed can only be dropped.", enum: []string{"cause", "asked", "all", "principals", "drop"}},
	"notifications.routes[].principals": {doc: "With to = \"principals\": patterns of their subjects."},

	"import":       {doc: "Servers that come from the files of MCP clients and repositories."},
	"import.trust": {doc: "They are started without secateur approve."},

	"admin":                {doc: "How the running program is operated."},
	"admin.allow_commands": {doc: "POST and PUT /api/v1/servers may name a command, which this machine then runs, and variables of its environment. false: they may name a url."},
	"admin.watch":          {doc: "Reloads when the configuration file changes, after 200 ms of quiet. false: on SIGHUP, secateur reload and POST /api/v1/reload only."},
	"admin.capture":        {doc: "Keeps what requests and answers say, for the dashboard: in memory, the newest 256, secrets taken out as [[acl]] redacts them and those that are known for secrets. For a while, to look for a fault: it is what people and models write."},
	"admin.capture.bytes":  {doc: "Of each request and of each answer. 0: nothing is kept.", least: new(0.0), most: new(65536.0)},
	"admin.capture.ttl_s":  {doc: "Seconds that they are kept.", least: new(1.0), most: new(86400.0)},

	"prices.cache_min_tokens":   {doc: "Shorter prompts are not cached. 0: 1024.", least: new(0.0), absent: 1024},
	"prices.cache":              {doc: "Where the provider's cache finds a prompt again: blocks of tokens, intervals of 2048, endings of messages, markers that a request carries. Left out: by the model's name and the format.", enum: []string{"blocks", "intervals", "endings", "markers"}},
	"prices.cache_write_1h":     {doc: "Input tokens written to the cache to be kept for an hour. Left out: twice input where a request can ask for it.", least: new(0.0)},
	"prices.cache_block_tokens": {doc: "A prompt is cached in blocks of so many tokens. 0: 128.", least: new(0.0), absent: 128},
	"prices.long_above_tokens":  {doc: "A longer prompt is dearer. 0: none is.", least: new(0.0)},
	"prices.long_times":         {doc: "Multiplies all prices of such a prompt.", least: new(0.0)},
	"prices.long_output_times":  {doc: "Multiplies the price of the output of such a prompt. Left out: long_times.", least: new(0.0)},
}

// infoOf returns the entry for a pattern. Prices share their entries wherever they occur.
func infoOf(pattern string) (keyInfo, bool) {
	if _, price, ok := strings.Cut(pattern, ".prices."); ok {
		pattern = "prices." + price
	}
	info, ok := keys[pattern]
	return info, ok
}

// homeOf says where a key that is unknown here would be known: at the top of the file, or in the
// only section that has it.
func homeOf(name, section string) string {
	if _, top := keys[name]; top && section != "" {
		return "it belongs at the top of the file, before the first [section]"
	}
	home := ""
	for pattern := range keys {
		parent, last, ok := cutLast(pattern)
		if !ok || last != name || strings.Contains(parent, "*") || parent == "prices" {
			continue
		}
		if home != "" {
			return "" // more than one section
		}
		home = parent
	}
	if home == "" || home == section {
		return ""
	}
	if list, ok := strings.CutSuffix(home, "[]"); ok {
		return "it belongs in [[" + list + "]]"
	}
	return "it belongs in [" + home + "]"
}

func cutLast(pattern string) (parent, last string, ok bool) {
	i := strings.LastIndexByte(pattern, '.')
	if i < 0 {
		return "", pattern, false
	}
	return pattern[:i], pattern[i+1:], true
}
