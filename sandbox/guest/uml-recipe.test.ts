import { expect, it } from 'vitest';
import { isConfigured, UML_ENABLED, UML_TURNED_OFF, umlKey, umlOptions, umlSourceArguments } from './uml-recipe.ts';

it('the sources come from the backports of the mirror that the machine has', () => {
  expect(umlSourceArguments('http://mirror.example/debian', '/t')).toEqual([
    ...['--variant=extract', '--aptopt=Acquire::Languages "none"', '--include=linux-source-7.2'],
    ...['trixie-backports', '/t'],
    'deb http://mirror.example/debian trixie main',
    'deb http://mirror.example/debian trixie-backports main',
  ]);
});

it('an option is said once, and none is both requested and not', () => {
  const options = umlOptions();
  const of = (flag: string) => options.flatMap((word, i) => (word === flag ? (options[i + 1] ?? []) : []));
  const names = [...of('--enable'), ...of('--disable'), ...of('--set-val')];
  expect(names).toHaveLength(new Set(names).size);
  expect(options.length).toBe(names.length * 2 + 1);
  for (const name of names) expect(name).toMatch(/^[A-Z0-9_]+$/);
});

it('has what the agents ask of a kernel, and nothing that breaks Node or adds links to networks', () => {
  expect(UML_ENABLED).toEqual(
    expect.arrayContaining([
      ...['NET_VRF', 'OPENVSWITCH_GENEVE', 'NF_TABLES_INET', 'IP_SCTP', 'XFRM_USER', 'INET6_ESP'],
      'IP_ROUTE_CLASSID',
    ]),
  );
  const options = umlOptions().join(' ');
  for (const name of ['IO_URING', 'IPV6_SIT', 'BRIDGE_NETFILTER']) expect(options).toContain(`--disable ${name}`);
});

it('what is built is named after its sources and its options', () => {
  expect(umlKey()).toMatch(/^guest-uml-7\.2-[0-9a-f]{12}$/);
  expect(umlKey()).toBe(umlKey());
});

it('waiters for a lock sleep, and the name says so', () => {
  const { file, names } = UML_TURNED_OFF;
  expect(names).toEqual(['MUTEX_SPIN_ON_OWNER', 'RWSEM_SPIN_ON_OWNER']);
  // They have no prompt: scripts/config would write them and `make olddefconfig` take them back.
  expect(umlOptions().filter((word) => names.includes(word))).toEqual([]);
  expect(umlKey({ file, names: names.slice(1) })).not.toBe(umlKey());
});

it('an option counts when it is built in', () => {
  const config = '\nCONFIG_VETH=y\nCONFIG_TUN=m\n# CONFIG_BONDING is not set\n';
  expect(['VETH', 'TUN', 'BONDING', 'ETH'].filter((name) => isConfigured(config, name))).toEqual(['VETH']);
});
