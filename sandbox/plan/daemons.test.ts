import { expect, it } from 'vitest';
import { provisionArguments, systemId } from './bridge.ts';
import { DAEMONS, daemonSpecs } from './daemons.ts';
import { planNetwork } from './netplan.ts';

const [first, second] = planNetwork('4', 2).nodes;

it('every daemon has a command and stays in the foreground', () => {
  const specs = daemonSpecs();
  expect(specs.map(({ name }) => name).sort()).toEqual([...DAEMONS].sort());
  for (const { argv } of specs) {
    expect(argv[0]).toMatch(/^\/usr\/s?bin\//);
    expect(argv).not.toContain('--detach');
    expect(argv.filter((word) => word.startsWith('--pidfile='))).toHaveLength(1);
  }
});

it('the system id is a UUID, stable and different per node', () => {
  expect(systemId(first!)).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(systemId(first!)).toBe(systemId(planNetwork('dual', 1).nodes[0]!));
  expect(systemId(first!)).not.toBe(systemId(second!));
});

it.each([
  ['netdev', true],
  ['system', false],
] as const)('br-ex with the datapath %s', (datapath, isUserspace) => {
  const line = provisionArguments(first!, datapath).join(' ');
  expect(line).toContain(`-- set Bridge br-ex datapath_type=${datapath} fail_mode=standalone`);
  expect(line).toContain('other_config:hwaddr="02:00:ac:14:00:0b"');
  expect(line).toMatch(/-- --may-exist add-port br-ex eth0$/);
  expect(line.includes('ovn-bridge-datapath-type')).toBe(isUserspace);
});
