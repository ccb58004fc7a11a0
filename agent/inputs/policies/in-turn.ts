/** Each of several steps, whatever becomes of those before it. It throws what the first one threw that failed. */
export const inTurn = (steps: Iterable<() => void>): void => {
  const errors: unknown[] = [];
  for (const step of steps)
    try {
      step();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
};
