import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { ApiError } from '../errors.ts';
import { CniError, formatCniError } from './error.ts';
import { parseCniRequest, podKey } from './request.ts';
import { type CniResult, formatCniResult, parseCniResult } from './result.ts';
import { CNI_VERSIONS, formatVersionResult } from './version.ts';

const env = (more: Record<string, string | undefined> = {}) => ({
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'abc123',
  CNI_NETNS: '/var/run/netns/x',
  CNI_IFNAME: 'eth0',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;K8S_POD_UID=u-1',
  ...more,
});
const conf = (more: object = {}) => JSON.stringify({ cniVersion: '1.1.0', name: 'ovn-kubernetes', type: 'x', ...more });

const result: CniResult = {
  interfaces: [
    { name: 'abc123456789012', mac: parseMac('02:00:00:00:00:01'), mtu: 1400 },
    { name: 'eth0', mac: parseMac('0a:58:0a:80:01:03'), mtu: 1400, sandbox: '/var/run/netns/x' },
  ],
  ips: [
    { address: parseInterfaceAddress('10.128.1.3/24'), gateway: parseIp('10.128.1.1'), interface: 1 },
    { address: parseInterfaceAddress('fd00::3/64'), interface: 1 },
  ],
  routes: [{ dst: parseCidr('10.0.0.0/8'), gw: parseIp('10.128.1.1') }],
  dns: {},
};

describe('CNI request', () => {
  it('reads ADD', () => {
    const request = parseCniRequest(env(), conf({ netAttachDefName: 'ns/nad', mtu: 1300, deviceID: '' }));
    expect(request).toEqual({
      command: 'ADD',
      cniVersion: '1.1.0',
      containerId: 'abc123',
      netns: '/var/run/netns/x',
      ifName: 'eth0',
      pod: { namespace: 'ns', name: 'pod', uid: 'u-1' },
      config: { name: 'ovn-kubernetes', netAttachDefName: 'ns/nad', mtu: 1300, runtimeConfig: {} },
    });
    expect(request.command === 'ADD' && podKey(request.pod)).toBe('ns/pod');
  });

  it('reads DEL without a network namespace and with the result of ADD', () => {
    for (const version of CNI_VERSIONS) {
      const prevResult = JSON.parse(formatCniResult(result, version));
      const stdin = conf({ cniVersion: version, prevResult });
      const request = parseCniRequest(env({ CNI_COMMAND: 'DEL', CNI_NETNS: '' }), stdin);
      expect(request.command === 'DEL' && request.config.prevResult?.ips.map(({ address }) => address)).toEqual([
        '10.128.1.3/24',
        'fd00::3/64',
      ]);
    }
  });

  it('reads GC and STATUS, which have no container', () => {
    const attachments = { 'cni.dev/valid-attachments': [{ containerID: 'abc', ifname: 'eth0' }] };
    expect(parseCniRequest({ CNI_COMMAND: 'GC' }, conf(attachments))).toMatchObject({
      command: 'GC',
      validAttachments: [{ containerId: 'abc', ifName: 'eth0' }],
    });
    expect(parseCniRequest({ CNI_COMMAND: 'STATUS' }, conf())).toMatchObject({ command: 'STATUS' });
  });

  it('answers VERSION for any version', () => {
    expect(parseCniRequest({ CNI_COMMAND: 'VERSION' }, '{"cniVersion":"9.9"}')).toEqual({
      command: 'VERSION',
      cniVersion: '9.9',
    });
    expect(parseCniRequest({ CNI_COMMAND: 'VERSION' }, 'x')).toEqual({ command: 'VERSION', cniVersion: '' });
    expect(formatVersionResult('0.4.0')).toBe(
      '{"cniVersion":"0.4.0","supportedVersions":["0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}',
    );
  });

  it.each([
    [env({ CNI_COMMAND: undefined }), conf(), 4, 'unexpected or missing CNI_COMMAND'],
    [env(), '{', 6, 'is not JSON'],
    [env(), conf({ cniVersion: '0.2.0' }), 1, 'CNI version "0.2.0" is not supported'],
    [env(), conf({ cniVersion: undefined }), 1, 'CNI version "" is not supported'],
    [env({ CNI_COMMAND: 'CHECK' }), conf({ cniVersion: '0.3.1' }), 1, 'CHECK needs CNI version 0.4.0'],
    [env(), conf({ name: undefined }), 7, 'CNI configuration: name: is required'],
    [env({ CNI_COMMAND: 'CHECK' }), conf({ prevResult: { ips: [{ address: 'x' }] } }), 7, 'ips[0].address: "x"'],
    [env({ CNI_CONTAINERID: '' }), conf(), 4, 'missing or unusable CNI_CONTAINERID'],
    [env({ CNI_NETNS: '' }), conf(), 4, 'missing CNI_NETNS'],
    [env({ CNI_IFNAME: 'a/b' }), conf(), 4, 'is not an interface name'],
    [env({ CNI_ARGS: '' }), conf(), 4, 'missing CNI_ARGS'],
    [env({ CNI_ARGS: 'a=b=c' }), conf(), 4, 'CNI_ARGS item "a=b=c" is not key=value'],
    [env({ CNI_ARGS: 'K8S_POD_NAME=p' }), conf(), 4, 'missing K8S_POD_NAMESPACE'],
  ])('refuses %#', (environment, stdin, code, message) => {
    expect(() => parseCniRequest(environment, stdin)).toThrow(
      expect.objectContaining({ cniCode: code, message: expect.stringContaining(message) }),
    );
  });

  it('throws nothing but CniError for garbage', () => {
    const command = fc.constantFrom('ADD', 'DEL', 'CHECK', 'GC', 'STATUS', 'VERSION', 'X', '');
    const stdin = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((prevResult) => conf({ prevResult })),
      fc.jsonValue().map((value) => conf({ 'cni.dev/valid-attachments': value, runtimeConfig: value })),
    );
    fc.assert(
      fc.property(command, fc.string(), stdin, (CNI_COMMAND, CNI_ARGS, text) => {
        try {
          parseCniRequest(env({ CNI_COMMAND, CNI_ARGS }), text);
        } catch (error) {
          expect(error).toBeInstanceOf(CniError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('CNI result', () => {
  it('has the form of each version', () => {
    const text = Object.fromEntries(CNI_VERSIONS.map((version) => [version, formatCniResult(result, version)]));
    expect(text['1.1.0']).toBe(
      '{"cniVersion":"1.1.0","interfaces":[{"name":"abc123456789012","mac":"02:00:00:00:00:01","mtu":1400},{"name":"eth0","mac":"0a:58:0a:80:01:03","mtu":1400,"sandbox":"/var/run/netns/x"}],"ips":[{"interface":1,"address":"10.128.1.3/24","gateway":"10.128.1.1"},{"interface":1,"address":"fd00::3/64"}],"routes":[{"dst":"10.0.0.0/8","gw":"10.128.1.1"}],"dns":{}}',
    );
    expect(JSON.parse(text['1.0.0']!).interfaces[1]).toEqual({
      name: 'eth0',
      mac: '0a:58:0a:80:01:03',
      sandbox: '/var/run/netns/x',
    });
    expect(JSON.parse(text['0.4.0']!).ips.map(({ version }: { version: string }) => version)).toEqual(['4', '6']);
    expect(JSON.parse(text['0.3.1']!).cniVersion).toBe('0.3.1');
  });

  it('is read back from 1.1.0 as it was', () => {
    expect(parseCniResult(JSON.parse(formatCniResult(result, '1.1.0')))).toEqual(result);
    expect(parseCniResult({})).toEqual({ interfaces: [], ips: [], routes: [], dns: {} });
    expect(() => parseCniResult(null)).toThrow(ApiError);
  });
});

describe('CNI error', () => {
  it('has code, message and details', () => {
    const error = new CniError('tryAgainLater', 'the agent is starting', { details: 'kubelet tries again' });
    expect(formatCniError(error, '1.0.0')).toBe(
      '{"cniVersion":"1.0.0","code":11,"msg":"the agent is starting","details":"kubelet tries again"}',
    );
    expect(formatCniError(new Error('boom'), '1.0.0')).toBe('{"cniVersion":"1.0.0","code":199,"msg":"boom"}');
  });
});
