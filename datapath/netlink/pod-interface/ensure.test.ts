import { beforeEach, describe, expect, it } from 'vitest';
import { parseInterfaceAddress } from '../../../net/cidr.ts';
import { parseMac } from '../../../net/mac.ts';
import { FakeKernel } from '../fake/fake-kernel.ts';
import { sharedChain } from '../frame-filter/types.ts';
import type { KernelOp } from '../kernel/types.ts';
import { ensurePod } from './ensure.ts';
import type { PodNetwork } from './types.ts';

const POD: PodNetwork = {
  netns: '/run/netns/pod',
  interfaces: [1, 2].map((n) => ({
    name: `eth${n}`,
    hostName: `host${n}`,
    mac: parseMac(`0a:58:0a:80:0${n}:03`),
    mtu: 1400,
    addresses: [parseInterfaceAddress(`10.128.${n}.3/24`), parseInterfaceAddress(`fd00:${n}::3/64`)],
    routes: [],
    defaultGateways: [],
    alias: `ovn-udn:test/pod/eth${n}`,
    txChecksum: false,
    hears: { shared: sharedChain([]), rules: [{ tests: [], verdict: 'accept' }], isLocked: false },
  })),
};

let kernel: FakeKernel;
const names = (path?: string) =>
  kernel
    .netns(path)
    .links()
    .map(({ name }) => name);

beforeEach(() => {
  kernel = new FakeKernel();
  kernel.addNetns(POD.netns);
});

describe('when a step of a new pod fails', () => {
  const steps: [string, (op: KernelOp) => boolean][] = [
    ['the first pair', (op) => op.op === 'link.add'],
    ['the second pair', (op) => op.op === 'link.add' && op.link.name === 'host2'],
    ['an alias', (op) => op.op === 'link.set' && op.change.alias !== undefined],
    ['a setting', (op) => op.op === 'sysctl.set'],
    ['an address', (op) => op.op === 'address.put'],
    ['checksum offload', (op) => op.op === 'link.txChecksum'],
  ];

  it.each(steps)('%s, nothing is left and the next call succeeds', (_, matches) => {
    kernel.failOnce('EPERM', matches);
    expect(() => ensurePod(kernel, POD)).toThrow(
      expect.objectContaining({
        code: 'ERR_POD_INTERFACE_SETUP',
        message: expect.stringMatching(/^\/run\/netns\/pod: .*EPERM/),
        cause: expect.objectContaining({ code: 'EPERM' }),
      }),
    );
    expect([names(), names(POD.netns)]).toEqual([['lo'], ['lo']]);
    expect(ensurePod(kernel, POD)).toBe('created');
  });
});

describe("it reports that the node's ends are there", () => {
  const linked = (): string[][] => {
    const seen: string[][] = [];
    ensurePod(kernel, POD, () => seen.push(names()));
    return seen;
  };

  it('when they are, once', () => expect(linked()).toEqual([['lo', 'host1', 'host2']]));

  /** Whether the node's ends are up and filtered when they are reported. */
  const atReport = (): (readonly [isUp: boolean | undefined, hasFilter: boolean])[] => {
    const seen: (readonly [boolean | undefined, boolean])[] = [];
    const node = kernel.netns();
    ensurePod(kernel, POD, () => {
      for (const name of ['host1', 'host2']) seen.push([node.link(name)?.up, node.frameFilters().digests.has(name)]);
    });
    return seen;
  };

  it('when new ones are down still, so that nothing gets past the filters that they do not have yet', () =>
    expect(atReport()).toEqual([
      [false, false],
      [false, false],
    ]));

  it('when the filters of others are in place, which may be up', () => {
    ensurePod(kernel, POD);
    kernel.netns().apply([{ op: 'filters.clear' }]);
    kernel.netns(POD.netns).apply([{ op: 'link.set', name: 'lo', change: { up: false } }]);
    expect(atReport()).toEqual([
      [true, true],
      [true, true],
    ]);
  });

  it('also when they were there before and the pod lacks something', () => {
    ensurePod(kernel, POD);
    kernel.netns(POD.netns).apply([{ op: 'link.set', name: 'lo', change: { up: false } }]);
    expect(linked()).toEqual([['lo', 'host1', 'host2']]);
  });

  it('not when they cannot be made', () => {
    kernel.failOnce('EPERM', (op) => op.op === 'link.add');
    const seen: string[] = [];
    expect(() => ensurePod(kernel, POD, () => seen.push('linked'))).toThrow();
    expect(seen).toEqual([]);
  });
});

describe('when a repair fails', () => {
  it('keeps what was there before and takes away what is new', () => {
    ensurePod(kernel, { ...POD, interfaces: POD.interfaces.slice(0, 1) });
    kernel.failOnce('EPERM', (op) => op.op === 'address.put' && op.address.link === 'eth2');
    expect(() => ensurePod(kernel, POD)).toThrow(expect.objectContaining({ code: 'ERR_POD_INTERFACE_SETUP' }));
    expect([names(), names(POD.netns)]).toEqual([
      ['lo', 'host1'],
      ['lo', 'eth1'],
    ]);
    expect(ensurePod(kernel, POD)).toBe('repaired');
  });
});

it('looks again when a link vanishes during a repair', () => {
  ensurePod(kernel, POD);
  kernel.netns(POD.netns).apply([{ op: 'link.set', name: 'eth1', change: { mtu: 1500 } }]);
  kernel.failOnce('ENODEV', (op) => op.op === 'link.set' && op.name === 'eth1');
  expect(ensurePod(kernel, POD)).toBe('repaired');
});

it('gives up on a pod that something else keeps changing', () => {
  ensurePod(kernel, POD);
  const pod = kernel.netns(POD.netns);
  const apply = pod.apply.bind(pod);
  pod.apply = (ops) => {
    const failures = apply(ops);
    apply([{ op: 'link.set', name: 'eth1', change: { mtu: 1500 } }]);
    return failures;
  };
  pod.apply([]);
  expect(() => ensurePod(kernel, POD)).toThrow(/another program keeps changing the interfaces/);
});
