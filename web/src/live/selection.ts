// The rows that pass a filter, kept up to date without looking at all of them for each that comes.
import type { Row } from "./store.ts";
import type { Ring } from "./ring.ts";
import { matches, type Subject, type Term } from "./filter.ts";

export function subjectOf(r: Row): Subject {
  return {
    server: r.server, tool: r.tool, model: r.model ?? "", outcome: r.outcome, who: r.subject, door: r.door, method: r.method, id: r.request_id,
  };
}

export class Selection {
  private found: Row[] = []; // the oldest first
  private start = 0; // of those that are still remembered
  private seen = 0; // rows looked at, of the ring's total
  grown = 0; // rows that came ever
  readonly terms: Term[];
  private readonly rows: Ring<Row>;

  constructor(rows: Ring<Row>, terms: Term[]) {
    this.rows = rows;
    this.terms = terms;
    this.update();
    this.grown = 0;
  }

  update(): void {
    const fresh = Math.min(this.rows.total - this.seen, this.rows.length);
    for (let i = fresh - 1; i >= 0; i--) {
      const row = this.rows.newest(i);
      if (row && (this.terms.length === 0 || matches(this.terms, subjectOf(row)))) {
        this.found.push(row);
        this.grown++;
      }
    }
    this.seen = this.rows.total;
    const oldest = this.rows.newest(this.rows.length - 1)?.n ?? 0;
    while (this.start < this.found.length && (this.found[this.start]?.n ?? 0) < oldest) this.start++;
    if (this.start > this.rows.size) {
      this.found = this.found.slice(this.start);
      this.start = 0;
    }
  }

  get length(): number {
    return this.found.length - this.start;
  }

  /** From the newest, 0. */
  newest(i: number): Row | undefined {
    return i < 0 || i >= this.length ? undefined : this.found[this.found.length - 1 - i];
  }

  /** What is there now, for a page that is paused. */
  freeze(): Row[] {
    return this.found.slice(this.start);
  }
}
