/** Reads values of rows as they come from a `select` (RFC 7047 section 5.1). */

export type Row = Readonly<Record<string, unknown>>;

/** `["uuid", text]` */
export const uuidOf = (value: unknown): string => (Array.isArray(value) ? String(value[1]) : '');

/** `["map", [[key, value], …]]` */
export const mapOf = (value: unknown): Map<string, string> =>
  Array.isArray(value) && value[0] === 'map' ? new Map(value[1] as [string, string][]) : new Map();

/** `["set", [element, …]]`, or the one element; references by their UUIDs. */
export const setOf = (value: unknown): string[] => {
  if (Array.isArray(value) && value[0] === 'set') return (value[1] as unknown[]).flatMap(setOf);
  return value === undefined ? [] : [Array.isArray(value) ? String(value[1]) : String(value)];
};
