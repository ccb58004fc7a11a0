/** Who comes first where two have the same: the older one. Pure. */

export interface Aged {
  readonly creationTimestamp: string;
  readonly namespace?: string;
  readonly name: string;
}

export const oldestFirst = (a: Aged, b: Aged): number =>
  order(a.creationTimestamp, b.creationTimestamp) ||
  order(a.namespace ?? '', b.namespace ?? '') ||
  order(a.name, b.name);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
