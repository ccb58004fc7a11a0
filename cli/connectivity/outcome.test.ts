import { describe, expect, it } from 'vitest';
import { outcomeOf, probeCommand } from './outcome.ts';
import type { Probe } from './probes.ts';

const probe = (test: Probe['test'], more: Partial<Probe> = {}): Probe => ({
  ...{ test, to: 'pod a2', target: '10.0.0.1:80', family: 4, expected: 'reached' },
  from: { name: 'a1', tenant: 'a', node: { name: 'n1', hostname: 'n1' }, addresses: [], mtu: 1400 },
  ...more,
});

/** Messages of agnhost's connect, and of the sandbox's, which says more behind the same words. */
it.each([
  ['pods', 0, '', 'reached', ''],
  ['pods', 1, 'TIMEOUT\n', 'not reached', 'timed out'],
  ['pods', 1, 'TIMEOUT: Operation timed out\n', 'not reached', 'timed out'],
  ['pods', 1, 'REFUSED\n', 'not reached', 'refused'],
  ['mtu', 1, 'REFUSED: read udp 127.0.0.1:1->127.0.0.1:9: read: connection refused\n', 'not reached', 'refused'],
  ['mtu', 1, 'UNKNOWN: write: message too long\n', 'not reached', 'write: message too long'],
  ['pods', 1, 'OTHER: dial tcp: no route to host\n', 'not reached', 'dial tcp: no route to host'],
  [
    'dns',
    1,
    'DNS: lookup kubernetes.default: no such host\n',
    'not reached',
    'lookup kubernetes.default: no such host',
  ],
  ['dns', 1, 'TIMEOUT\n', 'reached', ''],
  ['dns', 1, 'REFUSED\n', 'reached', ''],
  ['pods', 125, 'toolbox: unknown option --timeout\n', 'unknown', 'toolbox: unknown option --timeout'],
  ['pods', 127, '', 'unknown', 'the prober exited with status 127'],
] as const)('%s: %i %j is %s %s', (test, status, stderr, observed, detail) => {
  expect(outcomeOf({ test }, status, stderr)).toEqual({ observed, detail });
});

describe('the words of the prober', () => {
  it('a connection', () => {
    expect(probeCommand('/agnhost', probe('pods'), 3)).toEqual(['/agnhost', 'connect', '--timeout=3s', '10.0.0.1:80']);
  });

  it('a datagram, with the line feed that is put behind it, fills the packet', () => {
    const [, , , protocol, data = ''] = probeCommand('/agnhost', probe('mtu', { datagram: 1372 }), 3);
    expect(protocol).toBe('--protocol=udp');
    expect(data).toMatch(/^--udp-data=echo x+$/);
    expect(data.length - '--udp-data='.length + 1).toBe(1372);
  });
});
