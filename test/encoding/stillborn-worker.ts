// A worker that dies before it is ready.
throw new Error('the addon is missing');
