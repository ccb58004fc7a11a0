/** Tries until `attempt` no longer rejects. @throws what it last rejected with, after `timeoutMs` */
export const eventually = async <T>(attempt: () => Promise<T>, timeoutMs = 15_000): Promise<T> => {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
};
