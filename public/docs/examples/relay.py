# A voice application for Parley in one file: it answers each prompt token by token, and keeps what was heard.
# Run: pip install websockets && python3 relay.py    Agent: {"relay": {"url": "ws://127.0.0.1:8090/"}}
import asyncio
import json
import os
import re

import websockets


histories = {}


async def talk(socket, path=None):
    history = []

    async def send(**message):
        await socket.send(json.dumps(message))

    async for data in socket:
        message = json.loads(data)
        if message["type"] == "setup":
            # A socket that was lost is dialled again, and the session goes on.
            history = histories.setdefault(message["sessionId"], history)
            if message.get("resumed"):
                continue
            await send(type="text", token="Welcome to the tea shop.", last=True)
        elif message["type"] == "interrupt":
            # The model must know what the caller has heard, and no more.
            if history and history[-1]["role"] == "assistant":
                history[-1]["content"] = message["utteranceUntilInterrupt"]
        elif message["type"] == "prompt":
            said = message["voicePrompt"]
            history.append({"role": "user", "content": said})
            if re.search(r"\bbye\b", said, re.I):
                await send(type="text", token="Goodbye.", last=True)
                await send(type="end")
                continue
            # Ask your language model here, and send each of its tokens as it comes.
            answer = f"You said: {said} I have {len(history)} messages in mind."
            history.append({"role": "assistant", "content": answer})
            for token in re.findall(r"\S+\s*", answer):
                await send(type="text", token=token)
            await send(type="text", token="", last=True)


async def main():
    async with websockets.serve(talk, "127.0.0.1", int(os.environ.get("PORT", 8090))) as server:
        print("relay application listens on", server.sockets[0].getsockname(), flush=True)
        await asyncio.Future()


asyncio.run(main())
