import { describe, expect, it } from 'vitest';
import { isReady, isServing, isTerminating, parseEndpointSlice } from './endpoint-slice.ts';
import { parseService } from './service.ts';

const service = (spec: object) => parseService({ metadata: { namespace: 'red', name: 'web' }, spec });

describe('a Service', () => {
  it('has its addresses of both families, and its ports with what the API server fills in', () => {
    const { clusterIps, ports, affinitySeconds, type } = service({
      clusterIP: '10.96.0.7',
      clusterIPs: ['10.96.0.7', 'fd00:10:96::7'],
      ports: [{ port: 80 }, { name: 'dns', protocol: 'UDP', port: 53, targetPort: 'dns' }],
    });
    expect({ clusterIps, ports, affinitySeconds, type }).toEqual({
      type: 'ClusterIP',
      clusterIps: ['10.96.0.7', 'fd00:10:96::7'],
      ports: [
        { name: '', protocol: 'TCP', port: 80 },
        { name: 'dns', protocol: 'UDP', port: 53 },
      ],
      affinitySeconds: undefined,
    });
  });

  it.each([
    ['headless', { clusterIP: 'None', clusterIPs: ['None'] }],
    ['a mere name', { type: 'ExternalName', externalName: 'example.com', clusterIP: '10.96.0.7' }],
    ['one that has none yet', { clusterIP: '' }],
  ])('%s has no address', (_, spec) => {
    expect(service(spec).clusterIps).toEqual([]);
  });

  it('of an older client has the address that is not in a list', () => {
    expect(service({ clusterIP: '10.96.0.7' }).clusterIps).toEqual(['10.96.0.7']);
  });

  it.each([
    [{ sessionAffinity: 'ClientIP' }, 10_800],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }, 60],
    [{ sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } }, undefined],
  ])('keeps clients at their endpoints: %j', (spec, seconds) => {
    expect(service({ clusterIP: '10.96.0.7', ...spec }).affinitySeconds).toBe(seconds);
  });

  it.each([
    [{ clusterIP: '010.96.0.7' }, /"010\.96\.0\.7"/],
    [{ clusterIPs: ['fd00::1%eth0'] }, /fd00::1%eth0/],
    [{ ports: [{ port: 0 }] }, /spec\.ports\[0\]\.port: must be at least 1/],
    [{ ports: [{ port: 80, protocol: 'ICMP' }] }, /spec\.ports\[0\]\.protocol: must be "TCP" or "UDP" or "SCTP"/],
  ])('is refused with %j', (spec, message) => {
    expect(() => service(spec)).toThrow(message);
  });
});

it('what is not said of an endpoint is as the API says', () => {
  const { endpoints } = parseEndpointSlice({
    metadata: { namespace: 'red', name: 'web-1' },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1'] },
      { addresses: ['10.0.0.2'], conditions: null },
      { addresses: ['10.0.0.3'], conditions: { ready: false } },
      { addresses: ['10.0.0.4'], conditions: { ready: false, serving: true, terminating: true } },
    ],
  });
  expect(endpoints.map((one) => [isReady(one), isServing(one), isTerminating(one)])).toEqual([
    [true, true, false],
    [true, true, false],
    [false, false, false],
    [false, true, true],
  ]);
});
