// Values that a page asks for, with what went wrong, and again after a while.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "./api/client.ts";

export interface Loaded<T> {
  value: T | undefined; // the last that came, also while a newer one is asked for
  failure: Failure | undefined;
  again: () => void;
}

/** Asks when the key changes, and every so many milliseconds while the page can be seen; 0: once. */
export function useLoad<T>(key: string, load: () => Promise<T>, every = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string; value?: T; failure?: Failure }>({ key });
  const [turn, setTurn] = useState(0);
  const newest = useRef(load);
  newest.current = load;
  useEffect(() => {
    let over = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async (): Promise<void> => {
      try {
        const value = await newest.current();
        if (!over) setState({ key, value });
      } catch (err) {
        const failure = err instanceof Failure ? err : new Failure(0, { detail: String(err) });
        if (!over) setState((s) => (s.key === key && s.value !== undefined ? { key, value: s.value, failure } : { key, failure }));
      }
      if (!over && every > 0) timer = setTimeout(next, every);
    };
    const next = (): void => {
      if (document.hidden) timer = setTimeout(next, every);
      else void run();
    };
    void run();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key, turn, every]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  const mine = state.key === key ? state : { key };
  return { value: mine.value, failure: mine.failure, again };
}
