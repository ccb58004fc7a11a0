import { isMapValue, isSetValue, type MapValue, type SetValue, type Value } from './value.ts';

/** Sets are equal whatever their order, maps whatever the order of their keys. */
export const sameValue = (a: Value, b: Value): boolean => {
  if (a === b) return true;
  if (isSetValue(a)) return isSetValue(b) && sameSet(a, b);
  if (isMapValue(a)) return isMapValue(b) && sameMap(a, b);
  return false;
};

const sameSet = (a: SetValue, b: SetValue): boolean => {
  if (a.length !== b.length) return false;
  // Both sides mostly come from a server, which sorts its sets.
  let position = 0;
  while (position < a.length && a[position] === b[position]) position++;
  if (position === a.length) return true;
  const rest = new Set(a.slice(position));
  return b.slice(position).every((element) => rest.delete(element));
};

const sameMap = (a: MapValue, b: MapValue): boolean => {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
};
