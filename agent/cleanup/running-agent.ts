import { connect } from 'node:net';

/** @throws Error when an agent answers: it would put back at once what is taken away */
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
