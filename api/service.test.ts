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

  it('has the node ports and addresses by which it is reached from outside', () => {
    const spec = {
      type: 'LoadBalancer',
      ports: [
        { port: 80, nodePort: 30080 },
        { port: 81, nodePort: 0, name: 'x' },
      ],
      externalIPs: ['192.0.2.1', '2001:db8::1'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      healthCheckNodePort: 31000,
    };
    const ingress = [{ ip: '192.0.2.9' }, { ip: '192.0.2.10', ipMode: 'Proxy' }, { hostname: 'lb.example' }];
    const parsed = parseService({
      metadata: { namespace: 'red', name: 'web' },
      spec,
      status: { loadBalancer: { ingress } },
    });
    expect(parsed).toMatchObject({
      ports: [
        { port: 80, nodePort: 30080 },
        { port: 81, name: 'x' },
      ],
      externalIps: ['192.0.2.1', '2001:db8::1'],
      loadBalancerIps: ['192.0.2.9'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      healthCheckNodePort: 31000,
    });
    expect(parsed.ports[1]).not.toHaveProperty('nodePort');
  });

  it('loses what is no address, and nothing else', () => {
    const spec = { type: 'LoadBalancer', clusterIP: '10.96.0.7', externalIPs: ['010.0.0.1', '192.0.2.1', ''] };
    const status = { loadBalancer: { ingress: [{ ip: 'lb.example' }, { ip: '192.0.2.9' }] } };
    expect(parseService({ metadata: { namespace: 'red', name: 'web' }, spec, status })).toMatchObject({
      clusterIps: ['10.96.0.7'],
      externalIps: ['192.0.2.1'],
      loadBalancerIps: ['192.0.2.9'],
      badIps: ['010.0.0.1', '', 'lb.example'],
    });
  });

  it('that is not of such a type any more has no node ports and no load balancer, whatever it kept', () => {
    const spec = { ports: [{ port: 80, nodePort: 30080 }], healthCheckNodePort: 31000, externalTrafficPolicy: 'Local' };
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } };
    const parsed = parseService({ metadata: { namespace: 'red', name: 'web' }, spec, status });
    expect(parsed).toMatchObject({ loadBalancerIps: [], healthCheckNodePort: undefined });
    expect(parsed.ports).toEqual([{ name: '', protocol: 'TCP', port: 80 }]);
  });

  it.each([
    [{ ports: [{ port: 80, nodePort: 70_000 }] }, /spec\.ports\[0\]\.nodePort/],
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
