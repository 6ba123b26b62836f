import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Queue, Worker } from 'bullmq';

/**
 * Verifies and parses each delivery, stores it as a job in Redis, and answers. A worker takes as many jobs at once as
 * the relay may.
 */
const [, , path, secret = ''] = process.argv;
const connection = { path };
const queue = new Queue('issues', { connection });
new Worker('issues', async () => {}, { connection, limiter: { max: 120, duration: 60_000 } });

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  const signed = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const signature = Buffer.from(String(request.headers['x-hub-signature-256']));
  if (signed.length !== signature.length || !timingSafeEqual(signed, signature)) {
    response.writeHead(401).end();
    return;
  }
  const { action, issue } = JSON.parse(body.toString());
  const jobId = `${issue.id}-${action}`;
  await queue.add('issue', { action, issue }, { jobId });
  response.writeHead(202).end(JSON.stringify({ jobs: [jobId] }));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(`webhook http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`);
});
