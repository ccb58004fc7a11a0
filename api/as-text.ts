/**
 * What somebody wrote, for a message. `String` runs the value's own `toString`, which JSON may have made anything:
 * `{"toString": 1}` would be a TypeError.
 */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
