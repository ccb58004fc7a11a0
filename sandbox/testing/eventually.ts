/**
 * Tries until `attempt` no longer rejects. Between two tries it takes its hands off for as long as the last one took: in a guest
 * what is waited for needs the same processors as who looks. @throws what it last rejected with, after `timeoutMs`
 */
export const eventually = async <T>(attempt: () => Promise<T>, timeoutMs = 15_000): Promise<T> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const start = performance.now();
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseAfter(performance.now() - start)));
    }
  }
};

const SHORTEST_MS = 25;
const LONGEST_MS = 5_000;

const pauseAfter = (tookMs: number): number => Math.min(Math.max(tookMs, SHORTEST_MS), LONGEST_MS);
