/** Tunnel keys that open something: of what is inside a packet with another key, silence would prove nothing. */
import type { Sandbox } from '../../../sandbox/index.ts';
import { attack } from './battery.ts';
import { tunnelControl } from './controls.ts';
import type { World } from './world.ts';

/** Only with such keys. They are tried from outside in the name of a node, which is believed without encryption. */
export const withProvenKeys = async (sandbox: Sandbox, world: World): Promise<World> => {
  const controls = world.tunnelKeys.map((key) => tunnelControl(world, key));
  const { unproved } = await attack(sandbox, world, [], controls);
  return { ...world, tunnelKeys: world.tunnelKeys.filter((_, index) => !unproved.includes(controls[index]?.id ?? '')) };
};
