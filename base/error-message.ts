/** What a caught value says: the message of an Error, anything else as text. `throw` takes any value, so `catch` gets any. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : textOf(error));

/** The same as an Error, for those who pass one on. */
export const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(textOf(thrown)));

/** An object may have no `toString`, or one that is no function. */
const textOf = (thrown: unknown): string => {
  try {
    return String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
};
