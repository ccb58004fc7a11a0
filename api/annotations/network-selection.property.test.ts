/** 10,000 annotations of whoever may create pods. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiError } from '../errors.ts';
import { attachmentsOf, MOST_SELECTIONS, parseNetworkSelections } from './network-selection.ts';
import { elementSchema, isInterfaceName } from './selection-element.ts';
import { SELECTION_FAULTS } from './selection-faults.ts';

const KEYS = [...Object.keys(elementSchema.shape), 'x', 'a.b', '__proto__', 'constructor'];
const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.1/24', '', '::', '256.1.1.1'));
const number = fc.oneof(fc.integer({ min: -1, max: 70_000 }), fc.double(), fc.constantFrom(0, 1, 2 ** 60));
const limits = fc.dictionary(fc.constantFrom('ingressRate', 'ingressBurst', 'egressRate', 'egressBurst', 'x'), number);
const mapping = fc.record(
  { hostPort: number, containerPort: number, protocol: fc.constantFrom('tcp', 'UDP', 'x', 1), hostIP: address },
  { requiredKeys: [] },
);
const value = fc.oneof(
  fc.array(address, { maxLength: 4 }),
  fc.constantFrom('a', 'net1', 'eth0', 'lo', '02:00:00:00:00:01', '24:8a:07:03:00:8d:ae:2f', '', 'x/y', null),
  limits,
  fc.array(mapping, { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 3 }),
);
const element = fc
  .tuple(fc.constantFrom('a', 'b', 'A', ''), fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 3 }))
  .map(([name, more]) => ({ name, ...more }));
const list = fc.array(fc.oneof({ weight: 9, arbitrary: element }, fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 });
const short = fc
  .array(fc.stringMatching(/^[a-z/@.%\u{e9}]{0,20}$/u), { maxLength: 40 })
  .map((items) => items.join(','));

/** Good ones with a character more, less or another. */
const damaged = fc
  .tuple(
    fc.constantFrom(...SELECTION_FAULTS.map(({ annotation }) => annotation), 'a', 'b/a@net7'),
    fc.nat(),
    fc.string({ maxLength: 2 }),
  )
  .map(([text, at, other]) => text.slice(0, at % (text.length + 1)) + other + text.slice((at % (text.length + 1)) + 1));

const annotation = fc.oneof(
  list.map((one) => JSON.stringify(one)),
  short,
  damaged,
  fc.string(),
  fc.json(),
);

it('reads all of an annotation or nothing of it, with one error that names it', { timeout: 120_000 }, () => {
  const outcomes = { read: 0, refused: 0 };
  fc.assert(
    fc.property(annotation, (text) => {
      try {
        expectSound(text);
        outcomes.read += 1;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        outcomes.refused += 1;
        expect(error.object).toBe('annotation k8s.v1.cni.cncf.io/networks of Pod ns/p');
        expect(error.message).not.toBe('');
        expect(error.message.length).toBeLessThan(1024);
      }
    }),
    { numRuns: 10_000 },
  );
  // A generator that only makes one kind of them would prove nothing.
  expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(1000);
});

const expectSound = (text: string): void => {
  const attachments = attachmentsOf(parseNetworkSelections(text, 'ns/p'));
  const interfaces = attachments.map(({ interfaceName }) => interfaceName);
  expect(attachments.length).toBeLessThanOrEqual(MOST_SELECTIONS);
  expect(new Set(interfaces).size).toBe(interfaces.length);
  expect(interfaces.every(isInterfaceName)).toBe(true);
  expect(interfaces.some((name) => ['lo', 'eth0', 'ovn-udn1'].includes(name))).toBe(false);
  expect(new Set(attachments.map(({ nadKey }) => nadKey)).size).toBe(attachments.length);
  expect(attachments.filter(({ defaultRoute }) => defaultRoute.length > 0).length).toBeLessThanOrEqual(1);
  for (const { bandwidth, ips, ipamClaim } of attachments) {
    expect(ipamClaim === undefined || ips.length === 0).toBe(true);
    if (bandwidth?.ingressBurst !== undefined) expect(bandwidth.ingressRate).toBeGreaterThan(0);
    if (bandwidth?.egressBurst !== undefined) expect(bandwidth.egressRate).toBeGreaterThan(0);
  }
};
