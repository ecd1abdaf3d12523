/** Waiting for conditions: no test sleeps. */
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds to wait for anything: generous, for slow and shared machines. */
export const PATIENCE = 1000 * Number(process.env.SYNAPSE_UI_PATIENCE ?? 90);

/** The first value of `ask` that is neither false nor empty. `ask` may fail meanwhile. */
export async function until(ask, what, patience = PATIENCE) {
  const end = Date.now() + patience;
  let last;
  for (;;) {
    try {
      last = await ask();
      if (last) {
        return last;
      }
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) {
      throw new Error(
        `waited ${patience / 1000} s in vain: ${what} (last: ${last instanceof Error ? last.message : JSON.stringify(last)})`,
      );
    }
    await pause(50);
  }
}
