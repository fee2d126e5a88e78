/** The newest so many of what was pushed. */
export class Ring<T> {
  private readonly slots: T[] = [];
  private next = 0; // where the next one goes, once it is full
  readonly size: number;
  total = 0; // ever pushed

  constructor(size: number) {
    this.size = size;
  }

  push(item: T): void {
    this.total++;
    if (this.slots.length < this.size) {
      this.slots.push(item);
      return;
    }
    this.slots[this.next] = item;
    this.next = (this.next + 1) % this.size;
  }

  get length(): number {
    return this.slots.length;
  }

  /** From the newest, 0, to the oldest. */
  newest(i: number): T | undefined {
    const n = this.slots.length;
    return i < 0 || i >= n ? undefined : this.slots[(((this.next - 1 - i) % n) + n) % n];
  }

  /** All of them, the newest first. */
  list(): T[] {
    return Array.from({ length: this.slots.length }, (_, i) => this.newest(i) as T);
  }
}
