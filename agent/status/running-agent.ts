import { connect } from 'node:net';

/**
 * Two agents of a node would write against each other, and one would put back at once what `cleanup` takes away.
 * @throws Error when an agent answers
 */
export const refuseWhileAgentRuns = async (statusSocket: string): Promise<void> => {
  if (await answers(statusSocket)) {
    throw new Error(`an agent is running on this node (it answers on ${statusSocket}): stop it first`);
  }
};

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
