import { describe, expect, it } from 'vitest';
import type { Cell } from './dimensions.ts';
import { needsKernel } from './kernel.ts';
import type { Row } from './row.ts';

const CELL: Cell = {
  from: 'pod of the network',
  to: 'ClusterIP',
  policy: 'Cluster',
  endpoints: 'both',
  owner: 'layer 3',
  mode: 'local',
  family: 4,
  protocol: 'TCP',
};
const ROW: Row = { expect: 'silent', why: 'for the test' };

describe('whether a cell needs a kernel with VRFs and more', () => {
  it.each<readonly [string, Partial<Cell>, boolean]>([
    ['a tenant’s own Service, by its switch', {}, false],
    ['by a node port of another node', { to: 'node port of another node' }, true],
    ['over SCTP', { protocol: 'SCTP' }, true],
    ['a tenant’s Service, from outside', { from: 'outside', to: 'externalIP' }, true],
    ['the default network’s, from a tenant', { from: 'pod of another tenant', owner: 'default' }, true],
    ['the default network’s, from outside', { from: 'outside', to: 'externalIP', owner: 'default' }, false],
  ])('in local gateway mode: %s', (_, more, needs) => {
    expect(needsKernel({ cell: { ...CELL, ...more }, row: ROW })).toBe(needs);
    // Rows say it for shared mode.
    expect(needsKernel({ cell: { ...CELL, ...more }, row: { ...ROW, needsKernel: true } })).toBe(needs);
  });

  it('is for its row to say in shared gateway mode', () => {
    const cell: Cell = { ...CELL, mode: 'shared' };
    expect(needsKernel({ cell, row: ROW })).toBe(false);
    expect(needsKernel({ cell, row: { ...ROW, needsKernel: true } })).toBe(true);
    expect(needsKernel({ cell: { ...cell, protocol: 'SCTP' }, row: ROW })).toBe(true);
  });
});
