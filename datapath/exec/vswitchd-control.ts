/** How to reach ovs-vswitchd by ovs-appctl. */
import { controlSocket } from './daemon-control.ts';

export const VSWITCH_RUN_DIRECTORY = '/var/run/openvswitch';

/** Arguments of ovs-appctl. None where no socket is found: then ovs-appctl says what is missing. */
export const vswitchdControl = async (folder = VSWITCH_RUN_DIRECTORY): Promise<readonly string[]> => {
  const socket = await controlSocket('ovs-vswitchd', folder);
  return socket === undefined ? [] : ['--target', socket];
};
