export type JsonRecord = Readonly<Record<string, unknown>>;

/** An object that is neither null nor an array. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value when it is an object, an empty one otherwise: for reading optional parts of unknown objects. */
export const recordOr = (value: unknown): JsonRecord => (isRecord(value) ? value : {});
