// When a server that ended by itself is started again.

const WINDOW_MS = 180_000;
const DELAYS_MS = [0, 1000, 2000, 4000];

/** Remembers crashes and says how long to wait before the next start. */
export class Crashes {
  private times: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Notes a crash; returns milliseconds to wait, or undefined after too many within three minutes. */
  next(): number | undefined {
    const now = this.now();
    this.times = [...this.times.filter((time) => now - time < WINDOW_MS), now];
    return DELAYS_MS[this.times.length - 1];
  }

  /** Forgets what was: the user has started the server anew. */
  reset(): void {
    this.times = [];
  }
}
