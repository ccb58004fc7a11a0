import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { type FileLock, tryFileLock } from '../../program/file-lock.ts';

/**
 * Makes this the only process that programs the node: two agents would write against each other, and one would put back at once what `cleanup` takes
 * away. Two that start at the same moment both find no socket that answers: one of them gets the lock. An agent of a version without locks answers.
 * @returns the lock, to be held for as long as the node is programmed
 * @throws Error when an agent answers, or another process holds the lock
 */
export const claimNode = async (statusSocket: string, buildFolder: string): Promise<FileLock> => {
  await refuseWhileAgentAnswers(statusSocket);
  const path = lockPath(statusSocket);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const lock = tryFileLock(path, join(buildFolder, 'lock.node'));
  if (lock !== undefined) return lock;
  throw new Error(`an agent is running on this node (it, or a cleanup, holds ${path}): stop it first`);
};

const refuseWhileAgentAnswers = async (statusSocket: string): Promise<void> => {
  if (await answers(statusSocket)) {
    throw new Error(`an agent is running on this node (it answers on ${statusSocket}): stop it first`);
  }
};

const lockPath = (statusSocket: string): string => join(dirname(statusSocket), 'agent.lock');

const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
