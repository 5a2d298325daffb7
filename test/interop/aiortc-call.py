"""A call of aiortc: places it, speaks as soon as `ready` comes, counts the sound, and prints what happened as JSON.

    aiortc-call.py URL CODEC TEXT
"""

import asyncio
import json
import sys
import urllib.request

from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

LIMIT_S = 30


def exchange(url, offer):
    request = urllib.request.Request(
        url + "/v1/realtime/calls", data=offer.encode(), headers={"Content-Type": "application/sdp"}
    )
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        return answer.read().decode(), answer.headers["Location"]


async def count(track, heard):
    try:
        while True:
            frame = await track.recv()
            heard["frames"] += 1
            heard["peak"] = max(heard["peak"], int(abs(frame.to_ndarray()).max()))
            heard["rate"] = frame.sample_rate
    except MediaStreamError:
        pass


async def call(url, codec, text):
    peer = RTCPeerConnection()
    transceiver = peer.addTransceiver("audio", direction="recvonly")
    codecs = RTCRtpReceiver.getCapabilities("audio").codecs
    transceiver.setCodecPreferences([c for c in codecs if c.mimeType.lower() == "audio/" + codec])
    channel = peer.createDataChannel("parley")
    heard = {"frames": 0, "peak": 0, "rate": 0}
    messages = []
    trouble = []
    spoken = asyncio.get_running_loop().create_future()

    @peer.on("track")
    def on_track(track):
        asyncio.ensure_future(count(track, heard))

    @channel.on("message")
    def on_message(message):
        message = json.loads(message)
        messages.append(message["type"])
        try:
            if message["type"] == "ready":
                channel.send(json.dumps({"type": "text", "token": text, "last": True}))
        except Exception as error:
            trouble.append(repr(error))
        if message["type"] == "utterance.spoken" and not spoken.done():
            spoken.set_result(message["text"])

    await peer.setLocalDescription(await peer.createOffer())
    offer = peer.localDescription.sdp
    answer, location = await asyncio.get_running_loop().run_in_executor(None, exchange, url, offer)
    await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    try:
        text = await asyncio.wait_for(spoken, LIMIT_S)
    except asyncio.TimeoutError:
        text = None
    await peer.close()
    return {
        "offered": [line for line in offer.split("\r\n") if line.startswith("m=")],
        "location": location,
        "first": messages[:1],
        "spoken": text,
        "trouble": trouble,
        **heard,
    }


print(json.dumps(asyncio.run(call(*sys.argv[1:]))))
