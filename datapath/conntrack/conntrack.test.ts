import { expect, it } from 'vitest';
import { parseCidr } from '../../net/cidr.ts';
import { parseIp } from '../../net/ip.ts';
import { FakeCommandRunner } from '../exec/fake.ts';
import { createConntrack } from './conntrack.ts';
import { createTranslationReader } from './translations.ts';

const noTarget = async (): Promise<readonly string[]> => [];
const nothing = { exitCode: 1, stderr: 'conntrack v1.4.8 (conntrack-tools): 0 flow entries have been deleted.\n' };

it('forgets what a zone of the datapath has with a mark', async () => {
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({}) });
  await createConntrack(runner, noTarget).flushMark(64_000, 4);
  expect(runner.commands.map(({ args }) => args)).toEqual([['dpctl/flush-conntrack', 'zone=64000', 'mark=0x4']]);
});

it('asks ovs-vswitchd where it is said to be', async () => {
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({}) });
  await createConntrack(runner, async () => ['--target', '/run/ovs-vswitchd.7.ctl']).flushZone(5);
  expect(runner.commands[0]?.args.join(' ')).toBe('--target /run/ovs-vswitchd.7.ctl dpctl/flush-conntrack zone=5');
});

it('finds translations of UDP in all zones, and forgets one by both of its ends', async () => {
  const stdout = [
    'udp,orig=(src=169.254.0.2,dst=10.96.0.2,sport=45100,dport=53),reply=(src=10.128.2.3,dst=169.254.0.2,sport=8081,dport=45100),zone=16,mark=10',
    'udp,orig=(src=169.254.0.2,dst=10.96.0.2,sport=45101,dport=53),reply=(src=10.128.2.3,dst=169.254.0.2,sport=8081,dport=45101),zone=17',
    'udp,orig=(src=fd69::2,dst=fd00:10:96::1,sport=45101,dport=53),reply=(src=fd00:10:128::4,dst=fd69::2,sport=8081,dport=45101),zone=16,mark=10',
    'tcp,orig=(src=169.254.0.2,dst=10.96.0.3,sport=45100,dport=53),reply=(src=10.128.2.3,dst=169.254.0.2,sport=8081,dport=45100),zone=16,mark=10',
  ].join('\n');
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({ stdout }) });
  const conntrack = { ...createConntrack(runner, noTarget), ...createTranslationReader(runner, noTarget) };
  const remembered = [
    { vip: '10.96.0.2:53', backend: '10.128.2.3:8081' },
    { vip: '[fd00:10:96::1]:53', backend: '[fd00:10:128::4]:8081' },
  ];
  const others = [
    { vip: '10.96.0.2:53', backend: '10.128.2.4:8081' },
    { vip: '10.96.0.3:53', backend: '10.128.2.3:8081' },
  ];
  expect(await conntrack.translations([...others, ...remembered])).toEqual(remembered);
  for (const one of remembered) await conntrack.flushTranslation(one);
  expect(runner.commands.slice(1).map(({ args }) => args)).toEqual([
    [
      'dpctl/flush-conntrack',
      'ct_nw_dst=10.96.0.2,ct_nw_proto=17,ct_tp_dst=53',
      'ct_nw_src=10.128.2.3,ct_nw_proto=17,ct_tp_src=8081',
    ],
    [
      'dpctl/flush-conntrack',
      'ct_ipv6_dst=fd00:10:96::1,ct_nw_proto=17,ct_tp_dst=53',
      'ct_ipv6_src=fd00:10:128::4,ct_nw_proto=17,ct_tp_src=8081',
    ],
  ]);
});

it('counts what a zone of the datapath has, by mark', async () => {
  const line = (mark: string): string =>
    `udp,orig=(src=10.0.0.3,dst=172.30.0.9,sport=1,dport=2),reply=(src=172.30.0.9,dst=172.30.0.2,sport=2,dport=1),zone=64000${mark}\n`;
  const stdout = [line(',mark=4'), line(''), line(',mark=5,labels=0x1'), line(',mark=4')].join('');
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({ stdout }) });
  expect([...(await createConntrack(runner, noTarget).marks(64_000))]).toEqual([
    [4, 2],
    [5, 1],
  ]);
  expect(runner.commands.map(({ args }) => args)).toEqual([['dpctl/dump-conntrack', 'zone=64000']]);
});

it('reads the limits of zones', async () => {
  const stdout = 'default limit=0\nzone=28,limit=50,count=4\nzone=59,limit=0,count=7\n';
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({ stdout }) });
  expect(await createConntrack(runner, noTarget).limits()).toEqual([
    { zone: 28, limit: 50, count: 4 },
    { zone: 59, limit: 0, count: 7 },
  ]);
});

it('forgets what the kernel has of an address, on either side; nothing there is no error', async () => {
  const runner = new FakeCommandRunner({ conntrack: ({ args }) => (args.includes('--orig-src') ? {} : nothing) });
  expect(await createConntrack(runner, noTarget).flushAddress('fd69::c')).toBe(true);
  expect(runner.commands.map(({ args }) => args.slice(1).join(' '))).toEqual([
    '--family ipv6 --orig-src fd69::c',
    '--family ipv6 --orig-dst fd69::c',
    '--family ipv6 --reply-src fd69::c',
    '--family ipv6 --reply-dst fd69::c',
  ]);
});

it('forgets a whole zone, and what was opened from or to a subnet', async () => {
  const runner = new FakeCommandRunner({ 'ovs-appctl': () => ({}), conntrack: () => nothing });
  const conntrack = createConntrack(runner, noTarget);
  await conntrack.flushZone(64_001);
  expect(await conntrack.flushSubnet(parseCidr('169.254.0.0/17'))).toBe(true);
  expect(runner.commands.map(({ args }) => args.join(' '))).toEqual([
    'dpctl/flush-conntrack zone=64001',
    '--delete --family ipv4 --orig-src 169.254.0.0/17',
    '--delete --family ipv4 --orig-dst 169.254.0.0/17',
  ]);
});

it('has nothing to forget where there is no datapath, and reports its other errors', async () => {
  const failing = (stderr: string) =>
    createConntrack(new FakeCommandRunner({ 'ovs-appctl': () => ({ exitCode: 2, stderr }) }), noTarget).flushZone(
      64_000,
    );
  await failing('ovs-vswitchd: no datapaths exist\novs-appctl: ovs-vswitchd: server returned an error\n');
  await expect(failing('ovs-appctl: cannot connect')).rejects.toThrow('cannot connect');
});

it('says that there is no conntrack program, and reports its other errors', async () => {
  expect(await createConntrack(new FakeCommandRunner({}), noTarget).flushAddress('169.254.0.12')).toBe(false);
  const broken = new FakeCommandRunner({ conntrack: () => ({ exitCode: 1, stderr: 'Operation not permitted' }) });
  await expect(createConntrack(broken, noTarget).flushAddress('169.254.0.12')).rejects.toThrow(
    'Operation not permitted',
  );
});

it('lists where the host’s own connections of a protocol were opened to, and forgets those', async () => {
  const dump = [
    'udp      17 27 src=172.30.0.2 dst=172.30.0.2 sport=45001 dport=30053 src=10.96.0.7 dst=169.254.0.2 sport=53 dport=45001 [ASSURED] mark=0 use=1',
    'udp      17 29 src=172.30.0.2 dst=192.0.2.1 sport=45002 dport=53 [UNREPLIED] src=192.0.2.1 dst=172.30.0.2 sport=53 dport=45002 mark=0 use=1',
    'udp      17 29 src=10.128.0.5 dst=10.96.0.7 sport=45003 dport=53 src=10.128.0.6 dst=10.128.0.5 sport=53 dport=45003 mark=0 zone=7 use=1',
    'udp      17 29 src=2001:db8::5 dst=::ffff:9.9.9.9 sport=45004 dport=53 [UNREPLIED] src=::ffff:9.9.9.9 dst=2001:db8::5 sport=53 dport=45004 mark=0 use=1',
    '',
  ].join('\n');
  const runner = new FakeCommandRunner({
    conntrack: ({ args }) => (args[0] === '--dump' ? { stdout: dump } : nothing),
  });
  const conntrack = createConntrack(runner, noTarget);
  expect(await conntrack.opened('udp', 4)).toEqual([
    { ip: '172.30.0.2', port: 30053, isTranslated: true },
    { ip: '192.0.2.1', port: 53, isTranslated: false },
  ]);
  expect(await conntrack.flushOpened('sctp', { ip: parseIp('fd00::1'), port: 9 })).toBe(true);
  expect(runner.commands.map(({ args }) => args.join(' '))).toEqual([
    '--dump --family ipv4 --proto udp',
    '--delete --family ipv6 --proto sctp --orig-dst fd00::1 --orig-port-dst 9 --zone 0',
  ]);
  expect(await createConntrack(new FakeCommandRunner({}), noTarget).opened('udp', 6)).toBeUndefined();
});
