import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareOwners, objectOfOwner } from './owner-order.ts';

describe('compareOwners', () => {
  it.each([
    ['zone:', 'pods:br-ex/node-1'],
    ['gateway-routers:default', 'attachments:a/a'],
    ['network-nodes:node-1', 'isolation-pods:a/a'],
    ['layer3:default', 'layer2:aaa'],
    ['management-ports:red', 'attachments:a/a'],
    ['services:red/web', 'isolation-pods:a/a'],
  ])('%s has its way before %s', (first, second) => {
    expect([second, first].sort(compareOwners)).toEqual([first, second]);
  });

  it('takes no network for the default one because of its name', () => {
    const [own, other] = ['network-nodes:node-1/default', 'network-nodes:node-1/a/default'];
    expect([other, own].sort(compareOwners)).toEqual([own, other]);
    expect(['network-nodes:node-1/red', other].sort(compareOwners)).toEqual([other, 'network-nodes:node-1/red']);
  });

  it('is total', () => {
    const owner = fc
      .tuple(
        fc.constantFrom('pods', 'zone', 'network-nodes', 'services', 'nobody'),
        fc.constantFrom('a', 'b/default', 'a/b'),
      )
      .map(([name, subject]) => `${name}:${subject}`);
    fc.assert(
      fc.property(owner, owner, owner, (a, b, c) => {
        expect(Math.sign(compareOwners(a, b))).toBe(-Math.sign(compareOwners(b, a)) + 0);
        expect(compareOwners(a, b) === 0).toBe(a === b);
        if (compareOwners(a, b) < 0 && compareOwners(b, c) < 0) expect(compareOwners(a, c)).toBeLessThan(0);
      }),
    );
  });
});

it('objectOfOwner names what users know', () => {
  expect(['pods:red/a', 'services:red/web', 'network-nodes:n1/red/net', 'zone:'].map(objectOfOwner)).toEqual([
    'Pod/red/a',
    'Service/red/web',
    'Network/red/net',
    'zone:',
  ]);
});
