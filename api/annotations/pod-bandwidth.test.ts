import { describe, expect, it } from 'vitest';
import { parsePodBandwidth } from './pod-bandwidth.ts';

const INGRESS = 'kubernetes.io/ingress-bandwidth';
const EGRESS = 'kubernetes.io/egress-bandwidth';

describe('the bandwidth of a pod', () => {
  it.each([
    [{}, undefined],
    [{ [INGRESS]: '10M' }, { ingressRate: 10_000_000 }],
    [{ [EGRESS]: '1Gi' }, { egressRate: 1_073_741_824 }],
    [
      { [INGRESS]: '1k', [EGRESS]: '1P' },
      { ingressRate: 1000, egressRate: 1e15 },
    ],
  ])('of %j', (annotations, bandwidth) => {
    expect(parsePodBandwidth(annotations, 'ns/p')).toEqual(bandwidth);
  });

  it.each([
    [{ [INGRESS]: 'fast' }, `annotation ${INGRESS} of Pod ns/p`, '"fast" is not a quantity, as 10M is'],
    [{ [EGRESS]: '999' }, `annotation ${EGRESS} of Pod ns/p`, '"999" is not between 1k and 1P bits per second'],
    [{ [EGRESS]: '2P' }, `annotation ${EGRESS} of Pod ns/p`, '"2P" is not between 1k and 1P bits per second'],
    [{ [INGRESS]: '-1M' }, `annotation ${INGRESS} of Pod ns/p`, '"-1M" is not between 1k and 1P bits per second'],
    [{ [INGRESS]: '' }, `annotation ${INGRESS} of Pod ns/p`, '"" is not a quantity, as 10M is'],
  ])('refuses %j', (annotations, object, message) => {
    expect(() => parsePodBandwidth(annotations, 'ns/p')).toThrow(expect.objectContaining({ object, message }));
  });
});
