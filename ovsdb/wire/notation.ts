/** JSON as it goes over the wire: RFC 7047 §5.1. */

export type WireAtom = string | number | boolean | readonly ['uuid', string] | readonly ['named-uuid', string];
export type WireSet = readonly ['set', readonly WireAtom[]];
export type WireMap = readonly ['map', readonly (readonly [WireAtom, WireAtom])[]];
export type WireValue = WireAtom | WireSet | WireMap;
export type WireRow = Readonly<Record<string, WireValue>>;

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
