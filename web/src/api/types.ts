// The control plane's answers, as /api/v1/openapi.json describes them. Members with a question mark may be missing.

export interface List<T> {
  items: T[];
  next: string | null;
}

export interface Problem {
  title: string;
  status: number;
  detail: string;
  code: string;
  hint: string;
  reason?: string;
  errors?: { file: string; line: number; key: string; message: string }[];
}

export interface Identity {
  issuer: string; // "none": nothing is asked
  subject: string;
  tenant: string;
  roles: string[];
}

export interface Status {
  version: string;
  commit: string;
  mode: string;
  pid: number;
  started_at: string;
  uptime_s: number;
  listen: string;
  config: { path: string; sha256: string; loaded_at: string; restart_needed: string[] };
  doors: string[];
  servers: Record<string, number>;
  store: { url: string; originals: number; bytes: number; max_bytes: number };
  in_flight: number;
  sessions: number;
}

export interface Server {
  id: string;
  state: string;
  era: string;
  protocol: string;
  transport: string;
  pid: number | null;
  uptime_s: number;
  restarts: number;
  last_error: string;
  in_flight: number;
  tools: number;
  resources: number;
  prompts: number;
  tokens: number;
  problems: string[];
  sandbox: string;
  sandbox_gaps: string[];
}

export interface Tool {
  name: string;
  server: string;
  tool: string;
  tokens: number;
  pin: string;
  off?: boolean;
}

export interface Pin {
  server: string;
  kind: string;
  tool: string;
  state: string;
  diff: string;
  findings: string[] | null;
}

export interface Login {
  server: string;
  issuer: string;
  subject: string;
  expires_at: string | null;
  refreshable: boolean;
}

/** The beginning of a body, secrets taken out. */
export interface Payload {
  text: string;
  bytes: number;
  cut: boolean;
  note?: string;
}

export interface Captured {
  enabled: boolean;
  expires_at: string | null;
  request: Payload | null;
  answer: Payload | null;
}

/** A sign-in with a server that was begun here. */
export interface SignInState {
  state: "none" | "waiting" | "done" | "failed";
  url?: string;
  error?: string;
}

export interface Cut {
  id: string;
  at: string;
  feature: string;
  server: string;
  tool: string;
  model: string;
  original_chars: number;
  kept_chars: number;
  tokens_saved: number;
  recovered: boolean;
  recovered_at?: string;
  request_id?: string;
}

export interface Removed {
  start_line: number; // 1-based; 0: the range is told in characters
  end_line: number;
  start_char: number;
  end_char: number;
  reason: string;
}

export interface CutDetail extends Cut {
  goal: string;
  reason: string;
  total_lines: number;
  removed: Removed[] | null;
  kept_text: string;
}

export interface Original {
  id: string;
  total_lines: number;
  start_line: number;
  end_line: number;
  text: string;
}

export interface Totals {
  spent_usd: number;
  passthrough_usd: number;
  saved_usd: number;
  lost_usd: number;
  cut_tokens: number;
  recovered_tokens: number;
  recovery_rate: number;
  cache_hit_rate: number;
}

export interface SavingsItem extends Totals {
  key: string;
}

export interface Savings extends Totals {
  items?: SavingsItem[];
}

export interface Conversation {
  id: string;
  provider: string;
  model: string;
  spent_usd: number;
  passthrough_usd: number;
  started_at?: string;
  last_at?: string;
}

export interface ConversationRequest {
  request_id: string;
  at: string;
  prompt_tokens: number;
  cached_tokens: number;
  masked: number;
  pruned: number;
  spent_usd: number;
  passthrough_usd: number;
  why: string;
}

export interface Resume {
  prompt_tokens: number;
  warm_usd: number;
  cold_usd: number;
  passthrough_cold_usd: number;
}

export interface Account extends Conversation {
  requests: ConversationRequest[];
  resume?: Resume | null;
}

export interface LimitUsage {
  limit: string;
  key: string;
  remaining: number;
  reset_s: number;
  in_flight: number;
  queued: number;
  burst?: number;
  concurrent?: number;
  queue?: number;
  tokens_today?: number;
  tokens_per_day?: number;
  usd_today?: number;
  usd_per_day?: number;
}

export interface Rule {
  name: string;
  action: string;
  [globs: string]: string | string[] | null;
}

export interface LimitRule {
  name: string;
  by: string[] | null;
  rate: string | number;
  burst: number;
  concurrent: number;
  queue: number | string;
  tokens_per_day: number;
  usd_per_day: number;
  shared: boolean;
}

export interface AccessRules {
  asks: boolean;
  default: string;
  audit: string;
  pins: string;
  rules: Rule[] | null;
  limits: LimitRule[] | null;
}

export interface TokenName {
  name: string;
  tenant: string;
  roles: string[] | null;
  expires: string | null;
  kept: string;
}

export interface RefusalRow {
  at?: string;
  request_id: string;
  door: string;
  reason: string;
  rule: string;
  subject: string;
  count?: number; // of unknown callers since the last that was told
}

export interface Explanation {
  principal: string;
  target: string;
  decision: string;
  rule: string | null;
  redact: string[];
  rules: { rule: string; matched: boolean; because: string }[];
}

export interface RequestEvent {
  request_id: string;
  door: string;
  server: string;
  method: string;
  tool: string;
  outcome: string;
  ms: number;
  bytes_in: number;
  bytes_out: number;
  subject: string;
  at?: string;
  model?: string;
  why?: string;
  error?: string;
  conversation?: string;
}

export interface ServerEvent {
  id: string;
  state: string;
  restarts: number;
  last_error: string;
  at?: string;
}

export interface ReloadEvent {
  outcome: string;
  changed: boolean;
  added: string[] | null;
  removed: string[] | null;
  restarted: string[] | null;
  keys: string[] | null;
  error?: string;
  at?: string;
}

export interface LogEvent {
  at: string;
  server: string;
  level: string;
  text: string;
  request_id?: string;
}

export interface Demo {
  name: string;
  title: string;
  type: string;
  goal: string;
  text: string;
}

export interface PruneResult {
  pruned_text: string;
  annotations: {
    kind: string;
    original_start_line: number;
    original_end_line: number;
    pruned_line_count: number;
    reason: string;
    marker: string;
  }[];
  stats: {
    original_lines: number;
    kept_lines: number;
    pruned_lines: number;
    pruned_ratio: number;
    tokens_est_before: number;
    tokens_est_after: number;
    elapsed_ms: number;
    used_fallback: boolean;
    backend: string;
  };
  warnings: string[] | null;
}

export interface Pruned {
  type: string;
  form: string;
  result: PruneResult;
  scores: (number | null)[] | null;
}

export interface Replayed {
  format: string;
  model: string;
  requests: number;
  prices: { input: number; cached_input: number; cache_write: number } | null;
  passthrough_usd: number;
  strategies: { name: string; usd: number; ratio: number; chosen: boolean; masked: number; pruned: number }[] | null;
  out: string;
  messages:
    | {
        message: number;
        role: string;
        tool: string;
        tool_call_id: string;
        how: string;
        original_chars: number;
        kept_chars: number;
        tokens_before: number;
        tokens_after: number;
        text: string;
      }[]
    | null;
}
